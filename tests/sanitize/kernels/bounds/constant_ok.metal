// An index behind the end of a small input, which lies in constant memory.
// input: w = float32[4]
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = w[i % 4];
