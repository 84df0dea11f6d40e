// The magnitude; the smallest signed number has none and stays.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[7, 10] np.resize([-128, -(2**15), -(2**31), -(2**63), 0, 1, -1, 127, -77], 70)
// output: y = T[7, 10]
// grid: 7
// threadgroup: 4
// where:
//     info = np.iinfo(x.dtype)
//     def wrap(v): return ((v - info.min) % (info.max - info.min + 1) + info.min).astype(x.dtype)
// expect: y = wrap(np.abs(x.astype(object)))
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = abs(x4);
*(device packed_vec<T, 3>*)(y + i + 4) = abs(x3);
*(device packed_vec<T, 2>*)(y + i + 7) = abs(x2);
y[i + 9] = abs(x[i + 9]);
