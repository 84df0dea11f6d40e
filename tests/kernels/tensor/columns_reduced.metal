// Minimum, maximum and sum of each column, stored as rows.
// input: a = float32[20,8] normal
// input: b = float32[8,30] normal
// output: y = float32[3,30]
// grid: 32
// threadgroup: 32
// where: c = a @ b
// expect: y = np.stack([c.min(axis=0), c.max(axis=0), c.sum(axis=0)])
// close: 1e-4 1e-5
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device float*)a, dextents<int, 2>(8, 20));
auto B = tensor((device float*)b, dextents<int, 2>(30, 8));
constexpr auto descriptor = matmul2d_descriptor(20, 30);
matmul2d<descriptor, execution_simdgroup> op;
auto product = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
auto columns =
    op.get_column_reduction_destination_cooperative_tensor<decltype(A), decltype(B), float>();
op.run(A, B, product);
reduce_columns(product, columns, reduction_operation::min, INFINITY);
auto first = tensor(y, dextents<int, 1>(30)), second = tensor(y + 30, dextents<int, 1>(30));
columns.store(first);
reduce_columns(product, columns, reduction_operation::max,
               reduction_operation_identity<float>::max_identity);
columns.store(second);
reduce_columns(product, columns);
for (uint16_t i = 0; i < columns.get_capacity(); ++i) {
  if (columns.is_valid_element(i)) y[60 + columns.get_multidimensional_index(i)[0]] = columns[i];
}
