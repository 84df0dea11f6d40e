// Consecutive threads read downwards.
// input: x = float32[75] normal
// output: y = float32[75]
// grid: 75
// threadgroup: 32
// expect: y = x[::-1]
uint i = thread_position_in_grid.x;
y[i] = x[threads_per_grid.x - 1 - i];
