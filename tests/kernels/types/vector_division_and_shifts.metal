// Quotients towards zero, remainders with the sign of the dividend, shifts by the low bits of the count.
// dtypes: int8 uint8 int16 uint16 int32 uint32
// input: x = T[8, 2] random
// input: z = T[8, 2] integers(1, 7)
// output: y = T[8, 12]
// grid: 8
// threadgroup: 8
// where:
//     a, b = x.astype(np.int64), z.astype(np.int64)
//     q = np.sign(a) * (np.abs(a) // b)
//     n = np.iinfo(x.dtype).bits
// expect: y = np.concatenate([q, a - q * b, a << b, a >> b, ~a, -a], axis=1).astype(x.dtype)
uint i = thread_position_in_grid.x;
vec<T, 2> a = ((const device vec<T, 2>*)x)[i], b = ((const device vec<T, 2>*)z)[i];
device vec<T, 2>* row = (device vec<T, 2>*)y + 6 * i;
row[0] = a / b;
row[1] = a % b;
row[2] = a << b;
row[3] = a >> b;
row[4] = ~a;
row[5] = -a;
