// Operators by component in the element's own type: 8 and 16 bits wrap.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[8, 3] random
// input: z = T[8, 3] integers(1, 7)
// output: y = T[8, 18]
// grid: 8
// threadgroup: 8
// expect: y = np.concatenate([x + z, x - z, x * z, x & z, x | z, x ^ z], axis=1)
uint i = thread_position_in_grid.x;
vec<T, 3> a = ((const device packed_vec<T, 3>*)x)[i];
vec<T, 3> b = ((const device packed_vec<T, 3>*)z)[i];
device packed_vec<T, 3>* row = (device packed_vec<T, 3>*)y + 6 * i;
row[0] = a + b;
row[1] = a - b;
row[2] = a * b;
row[3] = a & b;
row[4] = a | b;
row[5] = a ^ b;
