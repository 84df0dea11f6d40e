// Four SIMD-groups share 64 x 64 elements in the same way: neighbouring blocks of 16 x 16 belong to
// different SIMD-groups, two by two.
// input: a = float16[64,20] integers(-3, 4)
// input: b = float16[64,20] integers(-3, 4)
// output: c = float32[64,64]
// grid: 128
// threadgroup: 128
// expect: c = a.astype(np.float64) @ b.astype(np.float64).T
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device half*)a, dextents<int, 2>(20, 64));
auto B = tensor((device half*)b, dextents<int, 2>(20, 64));
constexpr auto descriptor = matmul2d_descriptor(64, 64, 20, false, true);
matmul2d<descriptor, execution_simdgroups<4>> op;
auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
op.run(A, B, sums);
int lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
int row = (lane >> 4 & 1) * 4 + (lane >> 1 & 3), column = ((lane >> 3 & 1) * 2 + (lane & 1)) * 4;
for (int i = 0; i < 32; ++i) {
  int n = 16 * (group & 1) + column + (i & 3) + 32 * (i >> 3 & 1);
  int m = 16 * (group >> 1) + row + 8 * (i >> 2 & 1) + 32 * (i >> 4 & 1);
  c[m * 64 + n] = sums[i];
}
