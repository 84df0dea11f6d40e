// #error is the user's own diagnostic.
// output: y = int32[4]
// grid: 4
// error: only for large kernels at 6:2
// header:
#error only for large kernels
// body:
y[thread_position_in_grid.x] = 1;
