// Each SIMD-group of a threadgroup makes a tile of its own; the result has the type of the operands.
// dtypes: float32 float16 bfloat16
// input: a = T[64,48] uniform(-1, 1)
// input: b = T[48,32] uniform(-1, 1)
// output: c = T[64,32]
// grid: 64
// threadgroup: 64
// expect: c = a.astype(np.float64) @ b
// close: 1e-4 1e-4
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(48, 64));
auto B = tensor((device T*)b, dextents<int, 2>(32, 48));
auto C = tensor(c, dextents<int, 2>(32, 64));
constexpr matmul2d_descriptor descriptor(32, 32, dynamic_length_v<int>, false, false, false,
                                         matmul2d_descriptor::mode::multiply);
matmul2d<descriptor, execution_simdgroup> op;
int row = 32 * simdgroup_index_in_threadgroup;
auto part = A.slice(0, row);
auto result = C.slice(0, row);
op.run(part, B, result);
