// cos(πx): exactly 0 at halves, ±1 at whole numbers, however large.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0.5, -0.5, 1, 2, -3, 1000, 2047, 2048.0, np.inf, np.nan, np.linspace(-3, 3, 120)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.where(x % 1 == 0.5, 0, np.cos(np.pi * (x.astype('d') % 2)))
// close: 1e-6
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = cospi(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = cospi(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = cospi(x2);
y[i + 9] = cospi(x[i + 9]);
