// Halves go away from zero: 0.5, 1.5, 2.5 become 1, 2, 3.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5, 1023.5, np.inf, np.nan, 0.49975586, -0.49975586, np.linspace(-5, 5, 118)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.copysign(np.floor(np.abs(x.astype('d')) + 0.5), x)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = round(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = round(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = round(x2);
y[i + 9] = round(x[i + 9]);
