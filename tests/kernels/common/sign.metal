// ±1 for numbers and infinities, 0 for zeros and NaN.
// dtypes: float32 float16
// input: x = T[13, 10] np.resize([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.25, -0.75, 2, 0.5, -3, 1e-3], 130)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 6
// expect: y = np.where(np.isnan(x), 0, np.sign(x))
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = sign(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = sign(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = sign(x2);
y[i + 9] = sign(x[i + 9]);
