// Metal has no typeid.
// output: y = int32[4]
// grid: 4
// error: 'typeid' is not supported in Metal at 5:32
y[thread_position_in_grid.x] = typeid(int) == typeid(float);
