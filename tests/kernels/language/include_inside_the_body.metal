// Standard headers, again and in the middle, change nothing.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.abs(x) + 1
// close: 1e-6
#include <metal_stdlib>
#include <metal_math>
using namespace metal;
uint t = thread_position_in_grid.x;
#include <metal_simdgroup>
#include "metal_atomic"
y[t] = abs(x[t]) + 1;
