// Static functions and constants of templates, called through types and objects.
// dtypes: float32 float16
// input: x = T[40] integers(-9, 9)
// output: y = T[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 4 + 8 + 1
// header:
template <typename U, int Shift>
struct Ops {
  static constexpr constant U factor = U(1 << Shift);
  using Up = Ops<U, Shift + 1>;
  static U scaled(U v) { return v * factor; }
  U plus(U v) const { return v + Up::factor; }
};
// body:
uint t = thread_position_in_grid.x;
Ops<T, 2> ops;
y[t] = ops.plus(ops.scaled(x[t])) + Ops<T, 0>::factor;
