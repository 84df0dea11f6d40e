// The left operand is stored with its columns as rows: a.T @ b.
// dtypes: float32 float16
// input: a = T[37,50] integers(-3, 4)
// input: b = T[37,70] integers(-3, 4)
// output: c = float32[50,70]
// grid: 192 1
// threadgroup: 64
// expect: c = a.astype(np.float64).T @ b
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(50, 37));
auto B = tensor((device T*)b, dextents<int, 2>(70, 37));
auto C = tensor(c, dextents<int, 2>(70, 50));
constexpr auto descriptor = matmul2d_descriptor(64, 32, dynamic_length_v<int>, true, false, false);
matmul2d<descriptor, execution_simdgroups<2>> op;
int x = threadgroup_position_in_grid.x * 32;
auto mB = B.slice(x, 0);
auto mC = C.slice(x, 0);
op.run(A, mB, mC);
