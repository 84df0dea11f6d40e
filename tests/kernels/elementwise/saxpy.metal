// A 0-d input is a reference.
// input: a = float32 2.5
// input: x = float32[100] integers
// input: y = float32[100] integers
// output: z = float32[100]
// grid: 100
// threadgroup: 32
// expect: z = 2.5 * x + y
uint i = thread_position_in_grid.x;
z[i] = a * x[i] + y[i];
