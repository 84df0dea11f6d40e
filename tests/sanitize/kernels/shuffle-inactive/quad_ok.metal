// Sums are over the active lanes.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i % 4 < 3) v = quad_sum(v) + quad_prefix_inclusive_sum(v) + quad_broadcast(v, 2);
y[i] = v;
