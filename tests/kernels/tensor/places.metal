// Iterators know the place of each element: column, then row. Ragged, and stored as another type.
// input: a = float16[50,30] integers(-3, 4)
// input: b = float16[30,45] integers(-3, 4)
// output: c = float16[50,45]
// grid: 64
// threadgroup: 64
// where: rows, columns = np.indices((50, 45))
// expect: c = a.astype(np.float64) @ b + rows - 2 * columns
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device half*)a, dextents<int, 2>(30, 50));
auto B = tensor((device half*)b, dextents<int, 2>(45, 30));
auto C = tensor(c, dextents<int, 2>(45, 50));
constexpr auto descriptor = matmul2d_descriptor(64, 64);
matmul2d<descriptor, execution_simdgroups<2>> op;
auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
op.run(A, B, sums);
for (auto at = sums.begin(); at != sums.end(); ++at) {
  auto place = at.get_multidimensional_index();
  *at += place[1] - 2 * place[0];
}
sums.store(C);
