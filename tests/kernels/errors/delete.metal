// Metal has no heap.
// output: y = int32[4]
// grid: 4
// error: 'delete' is not supported in Metal at 7:1
int v = 0;
thread int* p = &v;
delete p;
y[thread_position_in_grid.x] = v;
