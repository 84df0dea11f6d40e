// A generic lambda inside of a function template, handed a lambda.
// dtypes: float32 float16 int32
// input: x = T[40] integers(-9, 9)
// output: y = T[40]
// grid: 40
// threadgroup: 32
// expect: y = (x + 1) * 2 + x
// header:
template <typename U, typename F>
U apply_all(U v, F f) {
  auto twice = [&](auto w) { return f(w) + f(w); };
  return static_cast<U>(twice(v));
}
// body:
uint t = thread_position_in_grid.x;
const T own = x[t];
y[t] = apply_all(own, [](auto v) { return v + 1; }) + own;
