// Loops at compile time, and the same function at run time. A recursive one is fine in a constant.
// input: x = int32[40] integers(0, 10)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * (x + 1) // 2 + 55 + 24
// header:
constexpr int triangle(int n) {
  int sum = 0;
  for (int i = 1; i <= n; i++) sum += i;
  return sum;
}
constexpr int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
// body:
uint t = thread_position_in_grid.x;
constexpr int ten = triangle(10);
constexpr int f = factorial(4);
int slots[triangle(2)] = {0, 0, 0};
y[t] = triangle(x[t]) + ten + f + slots[t % 3];
