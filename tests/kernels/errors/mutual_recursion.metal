// Two functions that call each other.
// output: y = int32[4]
// grid: 4
// error: UnsupportedFeatureError: recursion is not supported in a kernel: even -> odd -> even at 8:38
// header:
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
// body:
y[0] = even(y[1]);
