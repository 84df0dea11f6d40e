// A function template with a type and a number, a struct template, a specialisation.
// input: x = T[48] integers(-20, 20)
// output: y = T[48]
// dtypes: float32 float16 bfloat16 int32
// template: N=3
// grid: 48
// threadgroup: 32
// expect: y = x * 3 + 2 if dtype != "int32" else x * 3 + 1
// header:
template <typename U> struct Bias { static constexpr int value = 2; };
template <> struct Bias<int> { static constexpr int value = 1; };
template <typename U, int K> U multiple(U v) {
  U sum = U(0);
  for (int i = 0; i < K; i++) sum = U(sum + v);
  return sum;
}
// body:
uint t = thread_position_in_grid.x;
y[t] = T(multiple<T, N>(x[t]) + T(Bias<T>::value));
