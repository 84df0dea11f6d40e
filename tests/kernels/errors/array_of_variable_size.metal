// The size of an array is a constant.
// input: n = int32 4
// output: y = int32[4]
// grid: 4
// error: variable length arrays[^\0]*hint: the size of an array must be a constant at 6:11
int slots[n];
y[thread_position_in_grid.x] = slots[0];
