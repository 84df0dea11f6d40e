// Tiles that are no multiple of 16, by more SIMD-groups than they keep busy.
// input: a = float32[9,20] integers(-3, 4)
// input: b = float32[20,21] integers(-3, 4)
// output: c = float32[9,21]
// grid: 96
// threadgroup: 96
// expect: c = a @ b + 1
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device float*)a, dextents<int, 2>(20, 9));
auto B = tensor((device float*)b, dextents<int, 2>(21, 20));
auto C = tensor(c, dextents<int, 2>(21, 9));
constexpr auto descriptor = matmul2d_descriptor(9, 21);
matmul2d<descriptor, execution_simdgroups<3>> op;
auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
op.run(A, B, sums);
for (int i = 0; i < sums.get_capacity(); ++i) {
  if (sums.get_mask(i)) sums[i] += 1;
}
sums.store(C);
