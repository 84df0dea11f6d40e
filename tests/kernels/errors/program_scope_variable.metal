// Variables at program scope must be constant.
// output: y = int32[4]
// grid: 4
// error: program scope variable 'state' must reside in constant address space at 7:5
// header:
// state: a comment does not count
int state = 7;
// body:
y[thread_position_in_grid.x] = state++;
