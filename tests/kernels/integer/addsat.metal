// Sums are clamped to the range of the type.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[7, 10] random
// input: z = T[7, 10] random
// output: y = T[7, 10]
// grid: 7
// threadgroup: 4
// where:
//     info = np.iinfo(x.dtype)
//     X, Z = x.astype(object), z.astype(object)
//     def fit(v): return np.clip(v, info.min, info.max).astype(x.dtype)
// expect: y = fit(X + Z)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> z4 = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> z3 = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> z2 = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<T, 4>*)(y + i) = addsat(x4, z4);
*(device packed_vec<T, 3>*)(y + i + 4) = addsat(x3, z3);
*(device packed_vec<T, 2>*)(y + i + 7) = addsat(x2, z2);
y[i + 9] = addsat(x[i + 9], z[i + 9]);
