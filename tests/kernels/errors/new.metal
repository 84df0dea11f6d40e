// Metal has no heap.
// output: y = int32[4]
// grid: 4
// error: 'new' is not supported in Metal: there is no heap at 5:17
thread int* p = new int[4];
y[thread_position_in_grid.x] = p[0];
