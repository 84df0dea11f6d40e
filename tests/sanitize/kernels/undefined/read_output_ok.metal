// It has an init_value.
// input: x = float32[64] normal
// output: y = float32[64]
// init: 0
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] += x[i];
