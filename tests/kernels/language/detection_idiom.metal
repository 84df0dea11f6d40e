// A member that only some types have.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 12
// header:
template <typename T, typename = void> struct has_bias : false_type {};
template <typename T> struct has_bias<T, void_t<decltype(T::bias)>> : true_type {};
struct Plain {};
struct Biased { static constexpr constant int bias = 12; };
template <typename Policy> int run(int v) {
  if constexpr (has_bias<Policy>::value) v += Policy::bias;
  return v;
}
// body:
uint t = thread_position_in_grid.x;
y[t] = run<Biased>(run<Plain>(x[t]));
