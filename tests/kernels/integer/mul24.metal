// Products of the low 24 bits, sign-extended for int.
// dtypes: int32 uint32
// input: x = T[60] np.resize([1, 2, 0x7fffff, 0x800000, 0xffffff, 0x1000001, 12345, 3000000], 60)
// input: z = T[60] np.resize([3, 100, 255, 0x800000, 7, 65535, 0xfffff], 60)
// output: y = T[60, 2]
// grid: 60
// threadgroup: 16
// where:
//     def low(v):
//         v = v.astype(np.int64) & 0xffffff
//         return np.where((dtype == "int32") & (v >= 2 ** 23), v - 2 ** 24, v)
//     product = low(x) * low(z)
// expect: y = np.stack([product, product + 1000000007], axis=1).astype(np.uint32).astype(dtype)
uint i = thread_position_in_grid.x;
y[2 * i] = mul24(x[i], z[i]);
y[2 * i + 1] = mad24(x[i], z[i], T(1000000007));
