// Metal has no double.
// output: y = float32[4]
// grid: 4
// error: double at 5:1
double d = 1.0;
y[thread_position_in_grid.x] = d;
