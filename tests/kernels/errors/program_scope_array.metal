// A table that is not constant.
// output: y = int32[4]
// grid: 4
// error: program scope variable 'table' must reside in constant address space at 6:5
// header:
int table[4] = {1, 2, 3, 4};
// body:
y[thread_position_in_grid.x] = table[thread_position_in_grid.x];
