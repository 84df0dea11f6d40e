// What is constant has a value.
// output: y = int32[4]
// grid: 4
// error: variable in constant address space must be initialized at 6:14
// header:
constant int limit;
// body:
y[thread_position_in_grid.x] = limit;
