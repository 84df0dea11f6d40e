// Metal has no exceptions: try and catch.
// output: y = int32[4]
// grid: 4
// error: 'try' is not supported in Metal at 5:1
try {
  y[thread_position_in_grid.x] = 1;
} catch (...) {
}
