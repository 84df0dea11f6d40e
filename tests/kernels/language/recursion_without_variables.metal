// A function that ends by calling itself, in a text without any variables in functions.
// input: n = int32[40] integers(0, 120)
// output: y = int32[40]
// grid: 40
// expect: y = np.gcd(n, 84)
// header:
constexpr int divisor(int a, int b) { return b == 0 ? a : divisor(b, a % b); }
// body:
uint i = thread_position_in_grid.x;
y[i] = divisor(n[i], 84);
