// The hint names the attribute that was meant.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier[^\0]*hint: the attribute is called thread_position_in_threadgroup at 5:3
y[thread_position_in_threadgroups.x] = 1;
