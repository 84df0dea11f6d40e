// Both threadgroups of a pair of tiles write both.
// input: x = float32[8, 8] normal
// output: y = float32[8, 8]
// grid: 8 8
// threadgroup: 4 4
// expect: y = x.T
uint2 p = thread_position_in_grid.xy;
y[p.y * 8 + p.x] = x[p.x * 8 + p.y];  // finds: race-groups (either), race-device (either)
y[p.x * 8 + p.y] = x[p.y * 8 + p.x];  // finds: race-groups (either), race-device (either)
