// Operands of different types; a depth that is smaller than the tensors'.
// dtypes: float16 bfloat16
// input: a = T[32,64] integers(-3, 4)
// input: b = float32[64,32] integers(-3, 4)
// output: c = float32[32,32]
// grid: 32
// threadgroup: 32
// expect: c = a[:, :24].astype(np.float64) @ b[:24]
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(64, 32));
auto B = tensor((device float*)b, dextents<int, 2>(32, 64));
auto C = tensor(c, dextents<int, 2>(32, 32));
constexpr auto descriptor = matmul2d_descriptor(32, 32, 24);
matmul2d<descriptor, execution_simdgroup> op;
op.run(A, B, C);
