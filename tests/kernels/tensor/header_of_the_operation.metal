// The header of matmul2d alone.
// input: a = float32[32,32] integers(-3, 4)
// output: c = float32[32,32]
// grid: 32
// threadgroup: 32
// expect: c = a @ a
// header:
#include <metal_cooperative_tensor>
#include <MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h>
// body:
auto A = tensor((device float*)a, dextents<int, 2>(32, 32));
auto C = tensor(c, dextents<int, 2>(32, 32));
mpp::tensor_ops::matmul2d<mpp::tensor_ops::matmul2d_descriptor(32, 32, 32), execution_simdgroup> op;
op.run(A, A, C);
