// Components in templates, although the header has operators of its own.
// dtypes: float32 int32
// input: x = T[40] integers(-9, 9)
// output: y = T[40]
// grid: 40
// threadgroup: 32
// expect: y = 3 * x + 2 * (x + 1) + 7
// header:
struct Money { int cents; };
inline Money operator*(Money a, int n) { return {a.cents * n}; }
inline Money operator+(Money a, Money b) { return {a.cents + b.cents}; }
inline Money operator-(Money a) { return {-a.cents}; }
template <typename U>
U mixed(vec<U, 4> v) {
  int order[4] = {1, 0, 2, 7};
  vec<U, 2> both = v.xy * 2 + v.zw;
  both += -v.ra;
  return both.x + both.y + U(order[int(v.w - v.w) + 3]);
}
// body:
uint t = thread_position_in_grid.x;
const T v = x[t];
y[t] = mixed(vec<T, 4>(v, v + 1, v + v, T(0)));
