// Only the branch that is taken must compile.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// template: T=int32 SQUARE=true
// expect: y = x * x + 4
// header:
template <typename T, bool square>
T power(T v) {
  if constexpr (square) {
    return v * v;
  } else {
    return v.no_such_member;
  }
}
// body:
uint t = thread_position_in_grid.x;
y[t] = power<T, SQUARE>(x[t]);
if constexpr (sizeof(T) == 4) y[t] += 4; else y[t] = 0;
