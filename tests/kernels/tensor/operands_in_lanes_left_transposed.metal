// The left operand transposed and two blocks wide; the result in memory.
// input: a = float16[64,32] integers(-3, 4)
// input: b = float16[64,16] integers(-3, 4)
// output: c = float32[32,16]
// grid: 32
// threadgroup: 32
// expect: c = a[:16].astype(np.float64).T @ b[:16]
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device half*)a, dextents<int, 2>(32, 64));
auto B = tensor((device half*)b, dextents<int, 2>(16, 64));
auto C = tensor(c, dextents<int, 2>(16, 32));
constexpr auto descriptor = matmul2d_descriptor(32, 16, 16, true, false);
matmul2d<descriptor, execution_simdgroup> op;
auto left = op.get_left_input_cooperative_tensor<half, half, float>();
auto right = op.get_right_input_cooperative_tensor<half, half, float>();
left.load(A);
right.load(B);
op.run(left, right, C);
