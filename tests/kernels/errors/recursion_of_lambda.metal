// A lambda that is handed itself.
// output: y = int32[4]
// grid: 4
// error: UnsupportedFeatureError: recursion is not supported in a kernel: a lambda -> a lambda at 5:71
auto factorial = [](auto self, int n) -> int { return n < 2 ? 1 : n * self(self, n - 1); };
y[0] = factorial(factorial, 5);
