// Sizes of vectors, arrays and matrices that templates deduce.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = 4 * x + 3 * x + 2 * 3
// header:
template <typename T, int N>
T sum(vec<T, N> v) {
  T s = v[0];
  for (int i = 1; i < N; i++) s += v[i];
  return s;
}
template <typename T, size_t N>
T sum(const thread T (&v)[N]) {
  T s = 0;
  for (size_t i = 0; i < N; i++) s += v[i];
  return s;
}
template <typename T, int C, int R>
constexpr int cells(matrix<T, C, R>) { return C * R; }
// body:
uint t = thread_position_in_grid.x;
float list[3] = {x[t], x[t], x[t]};
y[t] = sum(float4(x[t])) + sum(list) + cells(float3x2(1));
