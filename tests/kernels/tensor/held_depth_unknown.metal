// An operand in lanes has a size that is known when compiling.
// output: y = float32[4]
// grid: 32
// threadgroup: 32
// error: an operand that threads hold needs a k that is known when compiling at 13:16
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
constexpr auto descriptor = matmul2d_descriptor(16, 32);
matmul2d<descriptor, execution_simdgroup> op;
auto left = op.get_left_input_cooperative_tensor<float, float, float>();
y[0] = left[0];
