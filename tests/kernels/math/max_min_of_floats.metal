// max - min by the plain names, which drop NaN as fmax and fmin do.
// dtypes: float32 float16
// input: x = T[10, 10] np.repeat([0, 1, -1, 2.5, np.inf, -np.inf, np.nan, 0.5, -3, 100], 10)
// input: z = T[10, 10] np.tile([0, 1, -1, 2.5, np.inf, -np.inf, np.nan, 0.5, -3, 100], 10)
// output: y = T[10, 10]
// grid: 10
// threadgroup: 5
// expect: y = np.where(np.isnan(x) | np.isnan(z), np.fmax(x, z) - np.fmin(x, z), np.maximum(x, z) - np.minimum(x, z))
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> z4 = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> z3 = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> z2 = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<T, 4>*)(y + i) = max(x4, z4) - min(x4, z4);
*(device packed_vec<T, 3>*)(y + i + 4) = max(x3, z3) - min(x3, z3);
*(device packed_vec<T, 2>*)(y + i + 7) = max(x2, z2) - min(x2, z2);
y[i + 9] = max(x[i + 9], z[i + 9]) - min(x[i + 9], z[i + 9]);
