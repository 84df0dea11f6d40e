// Correctly rounded 1/√x: infinite at 0, 0 at infinity, NaN below 0.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0, 1, 4, -1, np.inf, np.nan, 2, 3, np.geomspace(0.0001, 60000, 122)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = 1 / np.sqrt(x.astype('d'))
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = rsqrt(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = rsqrt(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = rsqrt(x2);
y[i + 9] = rsqrt(x[i + 9]);
