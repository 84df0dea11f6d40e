// The body is no function.
// output: y = int32[4]
// grid: 4
// error: (function definition is not allowed here|expected)[^\0]*hint: source= is the body at 5:26
void helper(device int*) {
}
y[thread_position_in_grid.x] = 1;
