// The result is added to what is there; depth in steps of 16, the last one smaller.
// dtypes: float32 float16
// input: a = T[40,50] integers(-3, 4)
// input: b = T[50,40] integers(-3, 4)
// output: c = T[40,40]
// init: 7
// grid: 128
// threadgroup: 128
// expect: c = 7 + a.astype(np.float64) @ b
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device T*)a, dextents<int, 2>(50, 40));
auto B = tensor((device T*)b, dextents<int, 2>(40, 50));
auto C = tensor(c, dextents<int, 2>(40, 40));
constexpr auto descriptor = matmul2d_descriptor(
    64, 64, 16, false, false, false, matmul2d_descriptor::mode::multiply_accumulate);
matmul2d<descriptor, execution_simdgroups<4>> op;
for (int k = 0; k < 50; k += 16) {
  auto mA = A.slice(k, 0);
  auto mB = B.slice(0, k);
  op.run(mA, mB, C);
}
