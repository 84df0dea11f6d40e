// Cosine, also of arguments many turns away.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0, np.pi, -np.pi, np.inf, np.nan, 1000, -2000, 31416, np.linspace(-30, 30, 122)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.cos(x.astype('d'))
// close: 1e-6
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = cos(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = cos(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = cos(x2);
y[i + 9] = cos(x[i + 9]);
