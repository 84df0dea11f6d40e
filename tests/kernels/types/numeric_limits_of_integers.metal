// numeric_limits of the eight integer types.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// output: y = T[3]
// output: z = int32[8]
// grid: 1
// where:
//     info = np.iinfo(dtype)
//     signed = info.min < 0
// expect: y = np.array([info.max, info.min, info.min], dtype)
// expect: z = [1, signed, 1, 1, 0, 0, info.bits - signed, 2]
using L = numeric_limits<T>;
y[0] = L::max(), y[1] = L::min(), y[2] = L::lowest();
z[0] = L::is_specialized, z[1] = L::is_signed, z[2] = L::is_integer, z[3] = L::is_exact;
z[4] = L::has_infinity, z[5] = L::has_quiet_NaN, z[6] = L::digits, z[7] = L::radix;
