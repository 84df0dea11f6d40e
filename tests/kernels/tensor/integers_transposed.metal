// uint8 and int8 with a float result in lanes, which a scale is applied to.
// input: a = uint8[40,128] integers(0, 256)
// input: b = int8[64,128] integers(-128, 128)
// output: c = float32[40,64]
// grid: 128
// threadgroup: 128
// expect: c = 0.5 * (a.astype(np.int64) @ b.astype(np.int64).T)
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device uint8_t*)a, dextents<int, 2>(128, 40));
auto B = tensor((device int8_t*)b, dextents<int, 2>(128, 64));
auto C = tensor(c, dextents<int, 2>(64, 40));
constexpr auto descriptor = matmul2d_descriptor(64, 64, 128, false, true);
matmul2d<descriptor, execution_simdgroups<4>> op;
auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), int32_t>();
op.run(A, B, sums);
for (uint16_t i = 0; i < sums.get_capacity(); ++i) {
  if (!sums.is_valid_element(i)) continue;
  auto place = sums.get_multidimensional_index(i);
  if (place[1] < 40) c[place[1] * 64 + place[0]] = 0.5f * sums[i];
}
