// Both operands transposed, with a depth of two blocks, and multiplied without adding.
// input: a = float16[32,16] integers(-3, 4)
// input: b = float16[32,32] integers(-3, 4)
// output: c = float16[16,32]
// grid: 64
// threadgroup: 32
// expect: c = a.astype(np.float64).T @ b.astype(np.float64).T
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device half*)a, dextents<int, 2>(16, 32));
auto B = tensor((device half*)b, dextents<int, 2>(32, 32));
auto C = tensor(c, dextents<int, 2>(32, 16));
constexpr auto descriptor = matmul2d_descriptor(16, 32, 32, true, true);
matmul2d<descriptor, execution_simdgroup> op;
auto left = op.get_left_input_cooperative_tensor<half, half, float>();
auto right = op.get_right_input_cooperative_tensor<half, half, float>();
left.load(A);
right.load(B);
op.run(left, right, C);
