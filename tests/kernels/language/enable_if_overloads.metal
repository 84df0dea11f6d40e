// One name for signed, unsigned and floating types.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.abs(x) + (x & 0xFF) + 1000
// header:
template <typename T, enable_if_t<is_floating_point_v<T>, int> = 0>
int number(T) { return 1000; }
template <typename T, enable_if_t<is_integral_v<T> && is_signed_v<T>, int> = 0>
int number(T v) { return v < 0 ? -v : v; }
template <typename T, enable_if_t<is_unsigned_v<T>, int> = 0>
int number(T v) { return v; }
// body:
uint t = thread_position_in_grid.x;
y[t] = number(x[t]) + number(uchar(x[t])) + number(half(x[t]));
