// int8 in lanes: sums are exact, also above 2^24.
// input: a = int8[16,32] integers(-128, 128)
// input: b = int8[16,32] integers(-128, 128)
// output: c = int32[16,16]
// grid: 32
// threadgroup: 32
// expect: c = 1000 * (a.astype(np.int64) @ b.astype(np.int64).T) + 123456789
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device int8_t*)a, dextents<int, 2>(32, 16));
auto B = tensor((device int8_t*)b, dextents<int, 2>(32, 16));
auto C = tensor(c, dextents<int, 2>(16, 16));
constexpr auto descriptor = matmul2d_descriptor(
    16, 16, 32, false, true, false, matmul2d_descriptor::mode::multiply_accumulate);
matmul2d<descriptor, execution_simdgroup> op;
auto left = op.get_left_input_cooperative_tensor<int8_t, int8_t, int32_t>();
auto right = op.get_right_input_cooperative_tensor<int8_t, int8_t, int32_t>();
auto sums = op.get_destination_cooperative_tensor<decltype(left), decltype(right), int32_t>();
left.load(A);
right.load(B);
for (auto& sum : sums) sum = 123456789;
for (int i = 0; i < 1000; ++i) op.run(left, right, sums);
sums.store(C);
