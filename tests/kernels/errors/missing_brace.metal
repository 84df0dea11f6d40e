// A brace of the body that is never closed.
// output: y = int32[4]
// grid: 4
// error: expected '}'
if (thread_position_in_grid.x < 4) {
y[thread_position_in_grid.x] = 1;
