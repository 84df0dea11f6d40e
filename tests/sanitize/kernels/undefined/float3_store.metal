// A float3 without its z.
// input: x = float32[16] normal
// output: y = float32[64]
// init: 0
// grid: 16
// threadgroup: 16
uint i = thread_position_in_grid.x;
float3 v;
v.x = x[i];
v.y = 0;
((device float3*)y)[i] = v;  // finds: undefined-output
