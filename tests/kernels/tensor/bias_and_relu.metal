// The result stays in lanes for an epilogue: a bias, loaded into the same lanes, and a relu.
// dtypes: float16
// input: a = T[64,40] integers(-3, 4)
// input: b = T[40,64] integers(-3, 4)
// input: bias = float32[64] integers(-9, 10)
// output: c = float32[64,64]
// grid: 256 1
// threadgroup: 128
// expect: c = np.maximum(a.astype(np.float64) @ b + bias, 0)
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(40, 64));
auto B = tensor((device T*)b, dextents<int, 2>(64, 40));
auto C = tensor(c, dextents<int, 2>(64, 64));
// A stride of 0: one row for all.
auto rows = tensor((device float*)bias, dextents<int, 2>(64, 64), array<int, 2>{1, 0});
constexpr auto descriptor = matmul2d_descriptor(64, 32, dynamic_length_v<int>);
matmul2d<descriptor, execution_simdgroups<4>> op;
int x = threadgroup_position_in_grid.x * 32;
auto mB = B.slice(x, 0);
auto mC = C.slice(x, 0);
auto mBias = rows.slice(x, 0);
auto cT = op.get_destination_cooperative_tensor<decltype(A), decltype(mB), float>();
op.run(A, mB, cT);
auto biasT = op.get_destination_cooperative_tensor<decltype(A), decltype(mB), float>();
biasT.load(mBias);
#pragma unroll
for (uint16_t i = 0; i < cT.get_capacity(); ++i) {
  if (cT.is_valid_element(i)) cT[i] = max(cT[i] + biasT[i], 0.0f);
}
cT.store(mC);
