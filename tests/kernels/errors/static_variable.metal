// Metal has no static variables in kernels: here they would be shared by all threads.
// output: y = int32[10]
// grid: 10
// error: static
static int counter = 0;
counter++;
y[thread_position_in_grid.x] = counter;
