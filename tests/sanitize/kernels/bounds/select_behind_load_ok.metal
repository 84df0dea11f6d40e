// The mask comes behind the load.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
y[i] = i + 8 < 64 ? x[i + 8] : 0;
