// The message names line and column of this file.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'foo' at 6:8
uint i = thread_position_in_grid.x;
y[i] = foo;
