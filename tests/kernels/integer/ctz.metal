// Trailing zeros; ctz(0) is the width.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[7, 10] np.resize([0, 1, 2, 3, 12, 16, 32, 64, 96, 120], 70)
// output: y = T[7, 10]
// grid: 7
// threadgroup: 4
// where:
//     info = np.iinfo(x.dtype)
// expect: y = np.vectorize(lambda v: (int(v) & -int(v)).bit_length() - 1 if v else info.bits)(x).astype(x.dtype)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = ctz(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = ctz(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = ctz(x2);
y[i + 9] = ctz(x[i + 9]);
