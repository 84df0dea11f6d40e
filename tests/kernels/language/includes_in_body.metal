// Real kernels repeat the includes, even inside the body.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.abs(x)
// header:
#include <metal_stdlib>
#include <metal_simdgroup>
using namespace metal;
// body:
#include <metal_math>
using namespace metal;
uint t = thread_position_in_grid.x;
y[t] = metal::fabs(x[t]);
