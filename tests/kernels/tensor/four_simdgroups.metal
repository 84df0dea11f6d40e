// Four SIMD-groups make a tile of 64 x 32 together, over the whole depth; sizes are ragged.
// dtypes: float32 float16 bfloat16
// input: a = T[100,37] integers(-3, 4)
// input: b = T[37,70] integers(-3, 4)
// output: c = float32[100,70]
// grid: 384 2
// threadgroup: 128
// expect: c = a.astype(np.float64) @ b
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
tensor<device T, dextents<int32_t, 2>, tensor_inline> A((device T*)a, dextents<int32_t, 2>(37, 100));
tensor<device T, dextents<int32_t, 2>, tensor_inline> B((device T*)b, dextents<int32_t, 2>(70, 37));
tensor<device float, dextents<int32_t, 2>, tensor_inline> C(c, dextents<int32_t, 2>(70, 100));
constexpr auto descriptor =
    matmul2d_descriptor(64, 32, static_cast<int>(dynamic_extent), false, false, false);
matmul2d<descriptor, execution_simdgroups<4>> op;
uint2 group = threadgroup_position_in_grid.xy;
auto mA = A.slice(0, group.y * 64);
auto mB = B.slice(group.x * 32, 0);
auto mC = C.slice(group.x * 32, group.y * 64);
op.run(mA, mB, mC);
