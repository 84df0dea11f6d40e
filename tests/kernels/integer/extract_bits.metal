// A field of any place and width: none is 0, all is the number, and signed fields extend their sign.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[6, 4] random
// input: place = uint32[6, 2] [0, 0, 0, 3, 3, 5, 7, 1, 2, 6, 0, 8]
// output: y = T[6, 8]
// grid: 6
// threadgroup: 4
// where:
//     bits = np.iinfo(x.dtype).bits
//     def field(v, offset, count):
//         v = (int(v) % 2 ** bits >> int(offset)) % 2 ** int(count)
//         signed = x.dtype.kind == "i" and count and v >> int(count - 1)
//         return v - 2 ** int(count) if signed else v
//     some = np.vectorize(field, otypes=[object])(x, place[:, :1], place[:, 1:])
//     all = x.astype(object)
// expect: y = np.concatenate([some, all], axis=1).astype(x.dtype)
uint i = thread_position_in_grid.x;
uint offset = place[2 * i], count = place[2 * i + 1];
vec<T, 3> v = *(const device packed_vec<T, 3>*)(x + 4 * i);
*(device packed_vec<T, 3>*)(y + 8 * i) = extract_bits(v, offset, count);
y[8 * i + 3] = extract_bits(x[4 * i + 3], offset, count);
for (uint j = 0; j < 4; ++j) y[8 * i + 4 + j] = extract_bits(x[4 * i + j], 0, 8 * sizeof(T));
