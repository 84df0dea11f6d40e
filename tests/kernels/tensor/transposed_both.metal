// Both operands transposed, on eight SIMD-groups.
// input: a = float16[40,64] integers(-3, 4)
// input: b = float16[64,40] integers(-3, 4)
// output: c = float16[64,64]
// grid: 256
// threadgroup: 256
// expect: c = a.astype(np.float64).T @ b.astype(np.float64).T
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device half*)a, dextents<int, 2>(64, 40));
auto B = tensor((device half*)b, dextents<int, 2>(40, 64));
auto C = tensor(c, dextents<int, 2>(64, 64));
constexpr auto descriptor = matmul2d_descriptor(64, 64, 40, true, true);
matmul2d<descriptor, execution_simdgroups<8>> op;
op.run(A, B, C);
