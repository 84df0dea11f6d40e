// Default arguments of templates and functions, partial specialisation, `>>`.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 4 + 1 + 32 + 16
// header:
template <typename T = float, int N = 4>
struct Box {
  T v;
  T scaled(T add = 1) const { return v * N + add; }
};
template <typename T>
struct Wrap { T inner; static constexpr constant int size = sizeof(T); };
template <typename T, int N>
struct Wrap<vec<T, N>> { static constexpr constant int size = 8 * N; };
// body:
uint t = thread_position_in_grid.x;
Wrap<Box<>> w = {Box<>{x[t]}};
y[t] = w.inner.scaled() + Wrap<vec<float, 4>>::size + 4 * Wrap<Wrap<Box<float>>>::size;
