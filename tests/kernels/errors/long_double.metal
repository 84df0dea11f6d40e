// Neither double nor long double.
// output: y = float32[4]
// grid: 4
// error: 'long double' is not supported in Metal at 5:12
long double d = 1;
y[thread_position_in_grid.x] = d;
