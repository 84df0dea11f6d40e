// Defaults of templates and functions that build on each other.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = (x * 2 + 1) + (x * 5 + 1) + (x * 5 + 7)
// header:
template <int N = 2, typename T = int>
T scaled(T v, T offset = T(1)) { return v * N + offset; }
// body:
uint t = thread_position_in_grid.x;
y[t] = scaled(x[t]) + scaled<5>(x[t]) + scaled<5, int>(x[t], 7);
