// Towards zero, on both sides.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0.99, -0.99, np.inf, -np.inf, np.nan, 1000.5, -1000.5, np.linspace(-6, 6, 123)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.trunc(x)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = trunc(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = trunc(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = trunc(x2);
y[i + 9] = trunc(x[i + 9]);
