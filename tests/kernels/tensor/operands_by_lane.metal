// The lanes' elements as kernels for Apple's newest GPUs fill them: blocks of 16 x 16, two rows and
// four columns a lane.
// dtypes: float16 float32
// input: a = T[16,16] integers(-3, 4)
// input: b = T[32,16] integers(-3, 4)
// output: c = float32[16,32]
// grid: 32
// threadgroup: 32
// expect: c = 2 + a.astype(np.float64) @ b.T
// header:
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
// body:
constexpr auto desc = mpp::tensor_ops::matmul2d_descriptor(
    16, 32, 16, false, true, true,
    mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
mpp::tensor_ops::matmul2d<desc, metal::execution_simdgroup> op;
auto ct_a = op.template get_left_input_cooperative_tensor<T, T, float>();
auto ct_b = op.template get_right_input_cooperative_tensor<T, T, float>();
auto ct_c = op.template get_destination_cooperative_tensor<
    metal::remove_addrspace_t<decltype(ct_a)>, metal::remove_addrspace_t<decltype(ct_b)>, float>();
short lane = thread_index_in_simdgroup, quad = lane >> 2;
short row = (quad & 4) | ((lane >> 1) & 3), column = ((quad & 2) | (lane & 1)) * 4;
for (short i = 0; i < 2; ++i) {
  for (short j = 0; j < 4; ++j) {
    short at = (row + 8 * i) * 16 + column + j;
    ct_a[4 * i + j] = a[at];
    ct_b[4 * i + j] = b[at];
    ct_b[8 + 4 * i + j] = b[256 + at];
    ct_c[4 * i + j] = ct_c[8 + 4 * i + j] = 2;
  }
}
op.run(ct_a, ct_b, ct_c);
for (short i = 0; i < 2; ++i) {
  for (short j = 0; j < 4; ++j) {
    c[(row + 8 * i) * 32 + column + j] = ct_c[4 * i + j];
    c[(row + 8 * i) * 32 + 16 + column + j] = ct_c[8 + 4 * i + j];
  }
}
