// By default a view arrives as a contiguous copy.
// input: x = float32[8, 9] normal
// view: x = x.T
// output: y = float32[72]
// grid: 72
// threadgroup: 32
// expect: y = x.reshape(-1)
uint i = thread_position_in_grid.x;
y[i] = x[i];
