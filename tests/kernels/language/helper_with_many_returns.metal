// A helper that returns from the middle of a loop and from branches.
// input: x = int32[90] integers(-5, 60)
// output: y = int32[90]
// where:
//     def smallest_factor(n):
//         if n < 2: return -n
//         return next((d for d in range(2, n) if n % d == 0), n)
// grid: 90
// threadgroup: 32
// expect: y = [smallest_factor(v) for v in x.tolist()]
// header:
int smallest_factor(int n) {
  if (n < 2) return -n;
  for (int d = 2; d < n; d++) {
    if (n % d == 0) return d;
  }
  return n;
}
// body:
uint t = thread_position_in_grid.x;
y[t] = smallest_factor(x[t]);
