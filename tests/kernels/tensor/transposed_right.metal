// The right operand is stored with its columns as rows, as weights are: a @ b.T.
// dtypes: float32 float16
// input: a = T[70,75] integers(-3, 4)
// input: b = T[90,75] integers(-3, 4)
// output: c = float32[70,90]
// grid: 384 2
// threadgroup: 128
// expect: c = a.astype(np.float64) @ b.T
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(75, 70));
auto B = tensor((device T*)b, dextents<int, 2>(75, 90));
auto C = tensor(c, dextents<int, 2>(90, 70));
constexpr auto descriptor = matmul2d_descriptor(64, 32, dynamic_length_v<int>, false, true, false);
matmul2d<descriptor, execution_simdgroups<4>> op;
int x = threadgroup_position_in_grid.x * 32, y = threadgroup_position_in_grid.y * 64;
auto mA = A.slice(0, y);
auto mB = B.slice(0, x);
auto mC = C.slice(x, y);
op.run(mA, mB, mC);
