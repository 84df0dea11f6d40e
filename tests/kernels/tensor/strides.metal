// Tensors that are parts of larger arrays: strides of rows, and of columns.
// input: a = float32[40,100] integers(-3, 4)
// input: b = float32[60,80] integers(-3, 4)
// output: c = float32[33,64]
// init: -1
// grid: 32
// threadgroup: 32
// where: full = -np.ones((33, 64)); full[:20, :30] = a[3:23, 7:27] @ b[1:40:2, 10:70:2]
// expect: c = full
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
using two = dextents<int, 2>;
auto A = tensor((device float*)a + 307, two(20, 20), array<int, 2>{1, 100});
auto B = tensor((device float*)b + 90, two(30, 20), array<int, 2>{2, 160});
auto C = tensor(c, two(30, 20), array<int, 2>{1, 64});
constexpr auto descriptor = matmul2d_descriptor(32, 32);
matmul2d<descriptor, execution_simdgroup> op;
op.run(A, B, C);
