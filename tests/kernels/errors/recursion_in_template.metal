// Recursion of a function template, at run time.
// output: y = int32[4]
// grid: 4
// error: UnsupportedFeatureError: header:7:27: recursion is not supported in a kernel: sum -> sum
// header:
template <typename T> T sum(T n) {
  return n == 0 ? 0 : n - sum(n - 1);
}
// body:
y[thread_position_in_grid.x] = sum(4);
