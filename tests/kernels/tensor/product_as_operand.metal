// The result of one product is the left operand of the next one, without going through memory.
// input: a = float16[16,24] integers(-2, 3)
// input: b = float16[32,24] integers(-2, 3)
// input: v = float16[32,48] integers(-2, 3)
// output: o = float32[16,48]
// grid: 32
// threadgroup: 32
// expect: o = (a.astype(np.float64) @ b.astype(np.float64).T) @ v
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
auto A = tensor((device half*)a, dextents<int, 2>(24, 16));
auto B = tensor((device half*)b, dextents<int, 2>(24, 32));
auto V = tensor((device half*)v, dextents<int, 2>(48, 32));
auto O = tensor(o, dextents<int, 2>(48, 16));
constexpr auto first = matmul2d_descriptor(16, 32, dynamic_length_v<int>, false, true);
constexpr auto second = matmul2d_descriptor(16, 48, 32);
matmul2d<first, execution_simdgroup> scores;
matmul2d<second, execution_simdgroup> values;
auto s = scores.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
scores.run(A, B, s);
if (values.is_compatible_as_left_input<float, half, float>(s)) {
  auto p = values.get_left_input_cooperative_tensor<float, half, float>(s);
  auto result = values.get_destination_cooperative_tensor<decltype(p), decltype(V), float>();
  values.run(p, V, result);
  result.store(O);
}
