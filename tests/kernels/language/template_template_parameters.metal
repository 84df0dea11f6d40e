// A template as the argument of a template.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = 3 * x + 3
// header:
template <typename T> struct Twice { static T of(T v) { return v + v; } };
template <typename T> struct Next { static T of(T v) { return v + 1; } };
template <template <typename> class... F, typename T> T together(T v) { return (F<T>::of(v) + ...) ; }
// body:
uint t = thread_position_in_grid.x;
y[t] = together<Twice, Next>(x[t]) + 2;
