// Constant tables cannot be written.
// output: y = int32[4]
// grid: 4
// error: (const|read-only) at 8:10
// header:
constant int table[2] = {1, 2};
// body:
table[0] = 3;
y[thread_position_in_grid.x] = table[0];
