// Only the branch of the type is compiled: the others would be errors for it.
// dtypes: float32 int32 uint8
// input: x = T[40] uniform(0, 100)
// output: y = T[40]
// grid: 40
// threadgroup: 32
// expect: y = x / 2 if dtype == "float32" else x % 7 if dtype == "int32" else x >> 1
// close: 1e-6
// header:
template <typename U>
U treat(U v) {
  if constexpr (is_floating_point_v<U>) {
    return v / 2;
  } else if constexpr (is_signed_v<U>) {
    return v % 7;
  } else {
    static_assert(sizeof(U) == 1, "bytes");
    return v >> 1;
  }
}
// body:
y[thread_position_in_grid.x] = treat(x[thread_position_in_grid.x]);
