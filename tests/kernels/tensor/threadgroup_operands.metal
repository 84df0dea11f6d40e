// Operands in threadgroup memory with padded rows, of float from half.
// input: a = float16[32,64] integers(-3, 4)
// input: b = float16[32,64] integers(-3, 4)
// output: c = float32[32,32]
// grid: 64
// threadgroup: 64
// expect: c = a.astype(np.float64) @ (2 * b.astype(np.float64)).T
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
threadgroup half tileA[32 * 36];
threadgroup float tileB[32 * 33];
uint t = thread_index_in_threadgroup;
constexpr auto descriptor = matmul2d_descriptor(
    32, 32, 32, false, true, false, matmul2d_descriptor::mode::multiply_accumulate);
matmul2d<descriptor, execution_simdgroups<2>> op;
tensor<threadgroup half, dextents<int32_t, 2>, tensor_inline> A(
    tileA, dextents<int32_t, 2>(32, 32), array<int32_t, 2>({1, 36}));
tensor<threadgroup float, dextents<int32_t, 2>, tensor_inline> B(
    tileB, dextents<int32_t, 2>(32, 32), array<int32_t, 2>({1, 33}));
auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
for (int i = 0; i < sums.get_capacity(); ++i) sums[i] = 0;
for (uint k = 0; k < 64; k += 32) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = t; i < 1024; i += 64) {
    tileA[i / 32 * 36 + i % 32] = a[i / 32 * 64 + k + i % 32];
    tileB[i / 32 * 33 + i % 32] = 2 * float(b[i / 32 * 64 + k + i % 32]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  op.run(A, B, sums);
}
auto C = tensor(c, dextents<int, 2>(32, 32));
sums.store(C);
