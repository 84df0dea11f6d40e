// One operand in lanes, the other one in memory.
// input: a = float32[16,16] integers(-3, 4)
// input: b = float32[16,32] integers(-3, 4)
// output: c = float32[2,16,32]
// grid: 32
// threadgroup: 32
// expect: c = np.stack([(2 * a) @ b, a @ (3 * b)])
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device float*)a, dextents<int, 2>(16, 16));
auto B = tensor((device float*)b, dextents<int, 2>(32, 16));
auto C = tensor(c, dextents<int, 3>(32, 16, 2));
constexpr auto descriptor = matmul2d_descriptor(16, 32, 16);
matmul2d<descriptor, execution_simdgroup> op;
auto left = op.get_left_input_cooperative_tensor<float, float, float>();
left.load(A);
for (auto& element : left) element *= 2;
auto first = tensor(C.data(), dextents<int, 2>(32, 16));
op.run(left, B, first);
auto right = op.get_right_input_cooperative_tensor<float, float, float>();
right.load(B);
for (auto& element : right) element *= 3;
auto second = tensor(C.data() + C.get_stride(2), dextents<int, 2>(32, 16));
op.run(A, right, second);
