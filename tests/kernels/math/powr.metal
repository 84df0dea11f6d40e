// Powers of a base that is not negative.
// dtypes: float32 float16
// input: x = T[13, 10] np.linspace(0.1, 9, 130)
// input: z = T[13, 10] uniform(-3, 3)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 5
// expect: y = np.power(x.astype('d'), z)
// close: 2e-6
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> z4 = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> z3 = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> z2 = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<T, 4>*)(y + i) = powr(x4, z4);
*(device packed_vec<T, 3>*)(y + i + 4) = powr(x3, z3);
*(device packed_vec<T, 2>*)(y + i + 7) = powr(x2, z2);
y[i + 9] = powr(x[i + 9], z[i + 9]);
