// enable_if picks the overload, is_same a branch.
// input: x = T[40] integers(-9, 9)
// output: y = T[40]
// grid: 40
// threadgroup: 32
// dtypes: int32 float32 float16 uint8
// expect: y = x + (1 if dtype in ('int32', 'uint8') else 2) + (4 if dtype == 'uint8' else 0)
// header:
template <typename T, typename = metal::enable_if_t<metal::is_integral_v<T>>>
T kind(T, int = 0) { return T(1); }
template <typename T, metal::enable_if_t<!metal::is_integral<T>::value, bool> = true>
T kind(T) { return T(2); }
template <typename T>
typename enable_if<is_same<T, uchar>::value, T>::type small(T v) { return v; }
template <typename T>
typename enable_if<!is_same<T, uchar>::value, T>::type small(T) { return T(0); }
// body:
uint t = thread_position_in_grid.x;
y[t] = x[t] + kind(x[t]) + small(T(4));
