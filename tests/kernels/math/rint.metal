// Halves go to the even neighbour: 0.5, 1.5, 2.5 become 0, 2, 2.
// dtypes: float32 float16
// input: x = T[13, 10] np.r_[0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5, 1023.5, np.inf, np.nan, 0.50048828, np.linspace(-5, 5, 119)]
// output: y = T[13, 10]
// grid: 13
// threadgroup: 8
// expect: y = np.rint(x)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = rint(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = rint(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = rint(x2);
y[i + 9] = rint(x[i + 9]);
