// Pointers, arrays and address spaces choose a specialisation.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = x + 1 + 20 + 304
// header:
template <typename T> struct Kind { static constexpr constant int value = 1; };
template <typename T, int N> struct Kind<vec<T, N>> { static constexpr constant int value = 10 * N; };
template <typename T, size_t N> struct Kind<T[N]> {
  static constexpr constant int value = 100 * Kind<T>::value + int(N);
};
template <> struct Kind<int> { static constexpr constant int value = 3; };
// body:
uint t = thread_position_in_grid.x;
y[t] = x[t] + Kind<float>::value + Kind<half2>::value + Kind<int[4]>::value;
