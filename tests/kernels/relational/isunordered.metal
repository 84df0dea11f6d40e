// Whether a comparison has an answer: a NaN among the two.
// dtypes: float32 float16 bfloat16
// input: x = T[13, 10] np.resize([1, np.nan, np.inf], 130)
// input: z = T[13, 10] np.resize([np.nan, 2, 3, -np.inf], 130)
// output: y = bool[13, 10]
// grid: 13
// threadgroup: 6
// expect: y = np.isnan(x) | np.isnan(z)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> z4 = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> z3 = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> z2 = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<bool, 4>*)(y + i) = isunordered(x4, z4);
*(device packed_vec<bool, 3>*)(y + i + 4) = isunordered(x3, z3);
*(device packed_vec<bool, 2>*)(y + i + 7) = isunordered(x2, z2);
y[i + 9] = isunordered(x[i + 9], z[i + 9]);
