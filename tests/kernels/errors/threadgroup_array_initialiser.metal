// Threadgroup memory has no initial value.
// output: y = float32[4]
// grid: 4
// error: 'slots': variables in the threadgroup address space cannot be initialized at 5:19
threadgroup float slots[32] = {1};
y[thread_position_in_grid.x] = slots[0];
