// A load one element behind the end.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
y[i] = x[i + 1];  // finds: bounds-read
