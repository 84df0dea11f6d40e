// To the left, by any count: only its low bits matter.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[7, 10] random
// input: z = T[7, 10] random
// output: y = T[7, 10]
// grid: 7
// threadgroup: 4
// where:
//     info = np.iinfo(x.dtype)
//     def turned(v, k): v, k = int(v) % 2 ** info.bits, int(k) % info.bits; return (v << k | v >> (info.bits - k)) % 2 ** info.bits
// expect: y = np.vectorize(turned, otypes=[object])(x, z).astype(np.uint64).astype(x.dtype)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> z4 = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> z3 = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> z2 = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<T, 4>*)(y + i) = rotate(x4, z4);
*(device packed_vec<T, 3>*)(y + i + 4) = rotate(x3, z3);
*(device packed_vec<T, 2>*)(y + i + 7) = rotate(x2, z2);
y[i + 9] = rotate(x[i + 9], z[i + 9]);
