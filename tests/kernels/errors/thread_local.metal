// Metal has no thread_local.
// output: y = int32[4]
// grid: 4
// error: 'thread_local' is not supported in Metal at 6:1
// header:
thread_local int counter;
// body:
y[thread_position_in_grid.x] = counter;
