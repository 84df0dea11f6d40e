// Bits of one number in the place of another's: none, some, all.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[6, 4] random
// input: z = T[6, 4] random
// input: place = uint32[6, 2] [0, 0, 0, 3, 3, 5, 7, 1, 2, 6, 0, 8]
// output: y = T[6, 8]
// grid: 6
// threadgroup: 4
// where:
//     bits = np.iinfo(x.dtype).bits
//     mask = ((2 ** place[:, 1].astype(object) - 1) << place[:, 0].astype(object))[:, None]
//     X, Z = (np.vectorize(lambda v: int(v) % 2 ** bits, otypes=[object])(a) for a in (x, z))
//     some = X & ~mask | Z << place[:, :1].astype(object) & mask
// expect: y = np.concatenate([some, Z], axis=1).astype(np.uint64).astype(x.dtype)
uint i = thread_position_in_grid.x;
uint offset = place[2 * i], count = place[2 * i + 1];
vec<T, 3> base = *(const device packed_vec<T, 3>*)(x + 4 * i);
vec<T, 3> bits = *(const device packed_vec<T, 3>*)(z + 4 * i);
*(device packed_vec<T, 3>*)(y + 8 * i) = insert_bits(base, bits, offset, count);
y[8 * i + 3] = insert_bits(x[4 * i + 3], z[4 * i + 3], offset, count);
for (uint j = 0; j < 4; ++j) y[8 * i + 4 + j] = insert_bits(x[4 * i + j], z[4 * i + j], 0, 8 * sizeof(T));
