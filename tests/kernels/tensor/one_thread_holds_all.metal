// Everything in the registers of one thread.
// input: a = float32[8,3,4] integers(-3, 4)
// input: b = float32[8,5,4] integers(-3, 4)
// output: c = float32[8,3,5]
// grid: 8
// threadgroup: 8
// expect: c = np.einsum("imk,ink->imn", a, b)
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
uint i = thread_position_in_grid.x;
auto A = tensor((device float*)a + 12 * i, extents<int, 4, 3>());
auto B = tensor((device float*)b + 20 * i, extents<int, 4, 5>());
auto C = tensor(c + 15 * i, extents<int, 5, 3>());
constexpr auto descriptor = matmul2d_descriptor(3, 5, 4, false, true);
matmul2d<descriptor, execution_thread> op;
auto left = op.get_left_input_cooperative_tensor<float, float, float>();
auto right = op.get_right_input_cooperative_tensor<float, float, float>();
auto sums = op.get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
left.load(A);
right.load(B);
op.run(left, right, sums);
sums.store(C);
