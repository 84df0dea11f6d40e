// Attention scores: rows are reduced, and each element finds the number of its row.
// dtypes: float16
// input: q = T[16,32] uniform(-1, 1)
// input: k = T[40,32] uniform(-1, 1)
// output: p = float32[16,40]
// grid: 32
// threadgroup: 32
// where: s = np.exp(q.astype(np.float64) @ k.astype(np.float64).T)
// expect: p = s / s.sum(axis=1, keepdims=True)
// close: 1e-5 1e-6
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto Q = tensor((device T*)q, dextents<int, 2>(32, 16));
auto K = tensor((device T*)k, dextents<int, 2>(32, 40));
auto P = tensor(p, dextents<int, 2>(40, 16));
constexpr auto descriptor = matmul2d_descriptor(16, 40, dynamic_length_v<int>, false, true);
matmul2d<descriptor, execution_simdgroup> op;
auto scores = op.template get_destination_cooperative_tensor<decltype(Q), decltype(K), float>();
auto largest =
    op.template get_row_reduction_destination_cooperative_tensor<decltype(Q), decltype(K), float>();
auto sums =
    op.template get_row_reduction_destination_cooperative_tensor<decltype(Q), decltype(K), float>();
op.run(Q, K, scores);
reduce_rows(scores, largest, reduction_operation::max, -INFINITY);
if (is_iterator_compatible(scores, largest)) {
  for (auto it = scores.begin(); it != scores.end(); it++) *it = exp(*it - *largest.map_iterator(it));
}
reduce_rows(scores, sums);
for (auto it = scores.begin(); it != scores.end(); it++) *it /= *sums.map_iterator(it);
scores.store(P);
