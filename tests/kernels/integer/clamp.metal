// Into a range.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[7, 10] random
// input: z = T[7, 10] integers(0, 50)
// input: c = T[7, 10] integers(60, 120)
// output: y = T[7, 10]
// grid: 7
// threadgroup: 4
// expect: y = np.minimum(np.maximum(x, z), c)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> z4 = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 4> c4 = *(const device packed_vec<T, 4>*)(c + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> z3 = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 3> c3 = *(const device packed_vec<T, 3>*)(c + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> z2 = *(const device packed_vec<T, 2>*)(z + i + 7);
vec<T, 2> c2 = *(const device packed_vec<T, 2>*)(c + i + 7);
*(device packed_vec<T, 4>*)(y + i) = clamp(x4, z4, c4);
*(device packed_vec<T, 3>*)(y + i + 4) = clamp(x3, z3, c3);
*(device packed_vec<T, 2>*)(y + i + 7) = clamp(x2, z2, c2);
y[i + 9] = clamp(x[i + 9], z[i + 9], c[i + 9]);
