// There is no printf.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'printf'[^\0]*hint: in Metal, use os_log_default.log at 5:1
printf("%d", 1);
y[thread_position_in_grid.x] = 1;
