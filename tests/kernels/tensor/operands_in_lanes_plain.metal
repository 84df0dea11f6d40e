// Operands and result are all in lanes; left and right as they are.
// dtypes: float32 float16
// input: a = T[16,48] integers(-3, 4)
// input: b = T[48,32] integers(-3, 4)
// output: c = float32[16,32]
// grid: 32
// threadgroup: 32
// expect: c = a.astype(np.float64) @ b
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(48, 16));
auto B = tensor((device T*)b, dextents<int, 2>(32, 48));
auto C = tensor(c, dextents<int, 2>(32, 16));
constexpr auto descriptor = matmul2d_descriptor(
    16, 32, 16, false, false, true, matmul2d_descriptor::mode::multiply_accumulate);
matmul2d<descriptor, execution_simdgroup> op;
auto left = op.template get_left_input_cooperative_tensor<T, T, float>();
auto right = op.template get_right_input_cooperative_tensor<T, T, float>();
auto sums = op.template get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
for (int i = 0; i < sums.get_capacity(); ++i) sums[i] = 0;
for (int k = 0; k < 48; k += 16) {
  auto mA = A.template slice<16, 16>(k, 0);
  auto mB = B.template slice<32, 16>(0, k);
  left.load(mA);
  right.load(mB);
  op.run(left, right, sums);
}
sums.store(C);
