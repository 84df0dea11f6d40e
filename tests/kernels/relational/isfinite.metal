// Neither infinite nor NaN.
// dtypes: float32 float16 bfloat16
// input: x = T[13, 10] np.resize([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.25, 60000, -2], 130)
// output: y = bool[13, 10]
// grid: 13
// threadgroup: 6
// expect: y = np.isfinite(x)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<bool, 4>*)(y + i) = isfinite(x4);
*(device packed_vec<bool, 3>*)(y + i + 4) = isfinite(x3);
*(device packed_vec<bool, 2>*)(y + i + 7) = isfinite(x2);
y[i + 9] = isfinite(x[i + 9]);
