// Deduced types: auto, decltype, trailing return types, auto pointers into buffers.
// input: x = float16[32] integers(-9, 9)
// output: y = float16[32]
// grid: 32
// expect: y = x * 2 + 1
// header:
template <typename A, typename B>
auto add(A a, B b) -> decltype(a + b) { return a + b; }
template <typename T>
decltype(auto) same(T v) { return v; }
// body:
uint t = thread_position_in_grid.x;
auto p = x + t;
decltype(y[0] + y[0]) twice = add(*p, *p);
auto one = same(half(1));
using element = decltype(one);
y[t] = element(twice + one);
