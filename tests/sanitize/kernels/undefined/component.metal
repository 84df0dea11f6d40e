// The third component of a vector is not set.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float4 v;
v.xy = float2(x[i], 1);
v.w = 2;
float4 twice = 2 * v;
y[i] = twice.x + twice.z;  // finds: undefined-output
