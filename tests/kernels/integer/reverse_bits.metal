// The lowest bit becomes the highest.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[7, 10] random
// output: y = T[7, 10]
// grid: 7
// threadgroup: 4
// where:
//     info = np.iinfo(x.dtype)
// expect: y = np.vectorize(lambda v: int(format(int(v) % 2 ** info.bits, f'0{info.bits}b')[::-1], 2), otypes=[object])(x).astype(np.uint64).astype(x.dtype)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = reverse_bits(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = reverse_bits(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = reverse_bits(x2);
y[i + 9] = reverse_bits(x[i + 9]);
