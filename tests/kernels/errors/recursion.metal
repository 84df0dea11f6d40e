// Recursion that is no loop cannot be inlined, and is refused.
// input: n = int32 5
// output: y = int32[4]
// grid: 4
// error: UnsupportedFeatureError: recursi
// header:
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
// body:
y[thread_position_in_grid.x] = fibonacci(n);
