// Each thread multiplies for itself: its row of x with the weights.
// input: x = float32[40,6] integers(-3, 4)
// input: w = float16[6,5] integers(-3, 4)
// output: y = float32[40,5]
// grid: 40
// threadgroup: 40
// expect: y = x.astype(np.float64) @ w + 1
// header:
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
// body:
uint i = thread_position_in_grid.x;
float own[6], result[5];
for (int k = 0; k < 6; ++k) own[k] = x[6 * i + k];
for (int n = 0; n < 5; ++n) result[n] = 1;
auto row = tensor(own, dextents<int, 2>(6, 1));
auto weights = tensor((device half*)w, dextents<int, 2>(5, 6));
auto to = tensor(result, extents<int, 5, 1>());
constexpr matmul2d_descriptor descriptor(1, 5, 6, false, false, true,
                                         matmul2d_descriptor::mode::multiply_accumulate);
matmul2d<descriptor, execution_thread>{}.run(row, weights, to);
for (int n = 0; n < 5; ++n) y[5 * i + n] = result[n];
