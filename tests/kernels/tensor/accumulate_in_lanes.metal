// A loop over the depth with slices of known sizes; the sums stay in lanes.
// dtypes: float32 bfloat16
// input: a = T[64,96] integers(-3, 4)
// input: b = T[96,64] integers(-3, 4)
// output: c = float32[64,64]
// grid: 256 1
// threadgroup: 128
// expect: c = 1 + a.astype(np.float64) @ b
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(96, 64));
auto B = tensor((device T*)b, dextents<int, 2>(64, 96));
auto C = tensor(c, dextents<int, 2>(64, 64));
constexpr auto descriptor = matmul2d_descriptor(
    64, 32, 32, false, false, false, matmul2d_descriptor::mode::multiply_accumulate);
matmul2d<descriptor, execution_simdgroups<4>> op;
int x = threadgroup_position_in_grid.x * 32;
auto firstA = A.template slice<32, 64>(0, 0);
auto firstB = B.template slice<32, 32>(x, 0);
auto sums =
    op.template get_destination_cooperative_tensor<decltype(firstA), decltype(firstB), float>();
for (uint16_t i = 0; i < sums.get_capacity(); ++i) sums[i] = 1;
for (int k = 0; k < 96; k += 32) {
  auto mA = A.template slice<32, 64>(k, 0);
  auto mB = B.template slice<32, 32>(x, k);
  op.run(mA, mB, sums);
}
auto mC = C.template slice<32, 64>(x, 0);
sums.store(mC);
