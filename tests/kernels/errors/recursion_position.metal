// The message names the functions of the cycle and the call that closes it.
// output: y = int32[4]
// grid: 4
// error: UnsupportedFeatureError: header:8:30: recursion is not supported in a kernel: even -> odd -> even at 8:30
// header:
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n && even(n - 1); }
// body:
y[thread_position_in_grid.x] = even(4);
