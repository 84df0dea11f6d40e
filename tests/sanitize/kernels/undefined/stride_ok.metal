// All are.
// input: x = float32[64] normal
// output: y = float32[128]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[2 * i] = x[i];
y[2 * i + 1] = 0;
