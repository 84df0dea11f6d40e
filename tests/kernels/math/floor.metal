// Towards -infinity; whole numbers and infinities stay.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0, -0.25, 0.25, np.inf, -np.inf, np.nan, 2047, -1023, np.linspace(-9.5, 9.5, 122)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.floor(x)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = floor(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = floor(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = floor(x2);
y[i + 9] = floor(x[i + 9]);
