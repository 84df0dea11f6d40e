// The last line of header and body is a comment, without a line end.
// input: x = int32[40] random
// output: y = int32[40]
// grid: 40
// expect: y = x
// header:
inline int same(int v) { return v; } // the end
// body:
y[thread_position_in_grid.x] = same(x[thread_position_in_grid.x]); // } the end \
