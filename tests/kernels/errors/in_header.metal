// An error in the header is in the header's line.
// output: y = float32[4]
// grid: 4
// error: 'bar' at 6:39
// header:
inline float helper(float v) { return bar(v); }
// body:
y[thread_position_in_grid.x] = helper(1);
