// <simd/simd.h>, which headers shared with the host include.
// input: x = float32[32] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// expect: y = x + 3
// header:
#include <simd/simd.h>
struct Uniforms { vector_float2 shift; simd::float4 scale; packed_float3 rest; };
// body:
uint t = thread_position_in_grid.x;
Uniforms u = {{1, 2}, {0, 0, 0, 0}, {0, 0, 0}};
simd_float2 total = u.shift + u.scale.xy;
y[t] = x[t] + total.x + total.y;
