// int8 operands are summed up as int32, exactly.
// input: a = int8[64,300] integers(-128, 128)
// input: b = int8[300,32] integers(-128, 128)
// output: c = int32[64,32]
// grid: 128
// threadgroup: 128
// expect: c = a.astype(np.int64) @ b.astype(np.int64)
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device int8_t*)a, dextents<int, 2>(300, 64));
auto B = tensor((device int8_t*)b, dextents<int, 2>(32, 300));
auto C = tensor(c, dextents<int, 2>(32, 64));
constexpr auto descriptor = matmul2d_descriptor(64, 32);
matmul2d<descriptor, execution_simdgroups<4>> op;
op.run(A, B, C);
