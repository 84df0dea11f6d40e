// Kernels do not print; the hint says what to do.
// output: y = int32[4]
// grid: 4
// error: 'os_log_default'[^\0]*hint: AnyMetal does not print from kernels at 5:1
os_log_default.log_info("%d", 1);
y[thread_position_in_grid.x] = 1;
