// Recursion over template arguments, which ends at compile time.
// input: x = float32[40] uniform(-1, 1)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x ** 7 + 120
// close: 1e-6
// header:
template <int N>
struct Power {
  static float of(float v) { return v * Power<N - 1>::of(v); }
};
template <>
struct Power<0> {
  static float of(float) { return 1; }
};
template <int N>
constexpr int factorial() {
  if constexpr (N < 2) return 1;
  else return N * factorial<N - 1>();
}
// body:
uint t = thread_position_in_grid.x;
y[t] = Power<7>::of(x[t]) + factorial<5>();
