// A component that changes in place, in a template, where the kernel has operators of its own.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// expect: y = (x + 2) * 3 + 5 - 1
// header:
struct Own { float v; };
Own operator+(Own a, Own b) { return {a.v + b.v}; }
thread Own& operator+=(thread Own& a, Own b) { a.v += b.v; return a; }
thread Own& operator*=(thread Own& a, Own b) { a.v *= b.v; return a; }
template <typename V> void change(thread V& v, float by) {
  v.x += 2;
  v.x *= by;
  v.y += by + 2;
}
// body:
uint t = thread_position_in_grid.x;
float2 v = {x[t], -1};
change(v, 3);
y[t] = v.x + v.y;
