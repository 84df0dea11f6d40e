// Only the low bits of a count matter, for every width and for vectors.
// input: x = int32[64] random
// input: s = int32[64] integers(0, 200)
// output: y = int64[64]
// output: z = int32[64]
// grid: 64
// threadgroup: 32
// where:
//     n, w = s & 31, x.astype(np.int64)
//     left = (x.astype(np.uint32) << n.astype(np.uint32)).astype(np.uint32).astype(np.int64)
//     wide = (w.astype(np.uint64) << (s & 63).astype(np.uint64)).astype(np.int64)
// expect: y = left + (x >> n) + wide // 3
// expect: z = (x << (s & 31)) ^ (x >> ((s + 40) & 31))
uint t = thread_position_in_grid.x;
const long product = long(x[t]) << s[t];
const long third = product / 3 - (product % 3 < 0 ? 1 : 0);
y[t] = long(uint(x[t]) << s[t]) + (x[t] >> s[t]) + third;
int2 v = int2(x[t]);
z[t] = (v << int2(s[t], 0)).x ^ (v >> int2(0, s[t] + 40)).y;
