// tan(πx): 0 at whole numbers, 1 at quarters.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0.25, -0.25, 1, -2, 1.25, 0.75, np.linspace(-0.4, 0.4, 124)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.where(x % 1 == 0, 0, np.tan(np.pi * (x.astype('d') % 1)))
// close: 1e-6
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = tanpi(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = tanpi(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = tanpi(x2);
y[i + 9] = tanpi(x[i + 9]);
