// What is outside of an operand counts as zero: elements of the tile beyond it are zeros.
// input: a = float32[10,8] integers(1, 4)
// input: b = float32[8,5] integers(1, 4)
// output: c = float32[16,32]
// init: 5
// grid: 32
// threadgroup: 32
// where: full = np.zeros((16, 32)); full[:10, :5] = a @ b
// expect: c = full
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device float*)a, dextents<int, 2>(8, 10));
auto B = tensor((device float*)b, dextents<int, 2>(5, 8));
auto C = tensor(c, dextents<int, 2>(32, 16));
constexpr auto descriptor = matmul2d_descriptor(16, 32);
matmul2d<descriptor, execution_simdgroup> op;
auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
op.run(A, B, sums);
sums.store(C);
