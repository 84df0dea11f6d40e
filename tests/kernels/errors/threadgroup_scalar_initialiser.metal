// Nor has a threadgroup scalar.
// output: y = int32[4]
// grid: 4
// error: 'total': variables in the threadgroup address space cannot be initialized at 6:46
uint t = thread_position_in_grid.x;
threadgroup uint n, *p = &n; threadgroup int total = 0;
y[t] = total;
