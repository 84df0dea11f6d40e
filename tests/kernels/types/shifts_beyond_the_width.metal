// Vectors shift by the low bits of each count; 32- and 64-bit scalars too.
// dtypes: int32 uint32 int64 uint64
// input: x = T[10, 2] random
// output: y = T[10, 6]
// grid: 10
// where:
//     n = np.iinfo(x.dtype).bits
//     k = np.stack([np.arange(10) * 13 % n] * 2, axis=1).astype(x.dtype)
// expect: y = np.concatenate([x << k, x >> k, (x[:, :1] << k[:, :1]), (x[:, 1:] >> k[:, :1])], axis=1)
uint i = thread_position_in_grid.x;
constexpr uint bits = 8 * sizeof(T);
vec<T, 2> v(x[2 * i], x[2 * i + 1]), k(T(i * 13), T(i * 13 + bits));
vec<T, 2> left = v << k, right = v >> k;
device T* row = y + 6 * i;
row[0] = left.x, row[1] = left.y, row[2] = right.x, row[3] = right.y;
row[4] = v.x << (i * 13 + bits);
row[5] = v.y >> (i * 13 + 2 * bits);
