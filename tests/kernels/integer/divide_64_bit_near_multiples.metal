// 64-bit quotients and remainders of numbers of all sizes, next to multiples of what they are divided
// by.
// input: b = int64[600] random
// input: k = int64[600] random
// input: s = int32[600] integers(0, 62)
// output: q = int64[600]
// output: r = int64[600]
// output: uq = uint64[600]
// output: ur = uint64[600]
// grid: 600
// threadgroup: 32
// where:
//     wide = b >> s
//     y = np.where(wide == 0, 3, wide)
//     x = y * (k >> 20) + s % 3 - 1
//     ints = [(int(a), int(c)) for a, c in zip(x, y)]
//     bits = [(a % 2**64, c % 2**64) for a, c in ints]
//     cut = [abs(a) // abs(c) * (1 if (a < 0) == (c < 0) else -1) for a, c in ints]
// expect: q = np.array([(v + 2**63) % 2**64 - 2**63 for v in cut], np.int64)
// expect: r = np.array([a - c * v for (a, c), v in zip(ints, cut)], np.int64)
// expect: uq = np.array([a // c for a, c in bits], np.uint64)
// expect: ur = np.array([a % c for a, c in bits], np.uint64)
uint t = thread_position_in_grid.x;
long y = b[t] >> s[t];
if (y == 0) y = 3;
long x = y * (k[t] >> 20) + s[t] % 3 - 1;
q[t] = x / y;
r[t] = x % y;
uq[t] = ulong(x) / ulong(y);
ur[t] = ulong(x) % ulong(y);
