// Vectors that begin with fewer numbers than they have components: the others are 0.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// expect: y = 2 * x + 3
// header:
template <typename T> vec<T, 3> first(T a, T b) {
  vec<T, 3> v = {a, b};
  return v;
}
// body:
uint t = thread_position_in_grid.x;
int4 v = {x[t], 1};
int3 w = first(x[t], 2);
const uint3 u = {uint(7), uint(5)};
y[t] = v.x + v.y + v.z + v.w + w.x + w.y + w.z + int(u.z);
