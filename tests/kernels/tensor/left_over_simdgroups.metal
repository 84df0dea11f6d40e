// Six SIMD-groups, of which two have nothing to do; adding to memory must not happen twice.
// input: a = float32[64,20] integers(-3, 4)
// input: b = float32[20,32] integers(-3, 4)
// output: c = float32[64,32]
// init: 3
// grid: 192
// threadgroup: 192
// expect: c = a @ b + 3
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device float*)a, dextents<int, 2>(20, 64));
auto B = tensor((device float*)b, dextents<int, 2>(32, 20));
auto C = tensor(c, dextents<int, 2>(32, 64));
constexpr auto descriptor = matmul2d_descriptor(
    64, 32, 20, false, false, false, matmul2d_descriptor::mode::multiply_accumulate);
matmul2d<descriptor, execution_simdgroups<6>> op;
op.run(A, B, C);
