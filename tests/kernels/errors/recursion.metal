// Recursion cannot be inlined, and is refused.
// input: n = int32 5
// output: y = int32[4]
// grid: 4
// error: UnsupportedFeatureError: recursi
// header:
int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
// body:
y[thread_position_in_grid.x] = factorial(n);
