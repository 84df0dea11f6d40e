// In all.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint at = i;
if (i < 32) at = 63 - i;
y[i] = x[at];
