// Arc cosine; NaN outside of [-1, 1].
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[1, -1, 0, 1.5, -2, np.nan, np.linspace(-1, 1, 124)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.arccos(x)
// close: 1e-6
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = acos(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = acos(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = acos(x2);
y[i + 9] = acos(x[i + 9]);
