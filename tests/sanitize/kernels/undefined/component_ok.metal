// The fourth one of a float3 does not exist: copying it is no finding.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float3 v;
v.x = x[i];
v.y = 1;
v.z = 2;
float3 twice = 2 * v;
float3 all[4];
all[i % 4] = twice;
float3 again = all[i % 4];
y[i] = dot(again, again);
