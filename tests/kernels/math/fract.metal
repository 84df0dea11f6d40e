// x - floor(x), below 1 even where it rounds to 1.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0, 1, -1, 2.75, -0.25, 1e-6, -1e-6, -1e-7, np.linspace(-7, 7, 122)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.minimum(x - np.floor(x.astype('d')), 1 - 2.0 ** (-24 if dtype == 'float32' else -11))
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = fract(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = fract(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = fract(x2);
y[i + 9] = fract(x[i + 9]);
