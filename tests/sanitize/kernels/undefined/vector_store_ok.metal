// All are.
// input: x = float32[16] normal
// output: y = float32[64]
// grid: 16
// threadgroup: 16
uint i = thread_position_in_grid.x;
float4 v;
v.x = x[i];
v.yz = 0;
v.w = 1;
((device float4*)y)[i] = v;
