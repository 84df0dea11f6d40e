// A 64-bit divisor that all threads share, and one of them the smallest number there is.
// input: x = int64[300] random
// input: n = int64[8] [7, -641, 2**62 + 1, -2**63, 1, -1, 2**32, 10**15 + 37]
// output: q = int64[8, 300]
// output: r = int64[8, 300]
// output: uq = uint64[8, 300]
// output: ur = uint64[8, 300]
// grid: 300 8
// threadgroup: 64
// where:
//     pairs = [[(int(a), int(b)) for a in x] for b in n]
//     bits = [[(a % 2**64, b % 2**64) for a, b in row] for row in pairs]
//     def cut(a, b):
//         return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
// expect: q = np.array([[cut(a, b) for a, b in row] for row in pairs])
// expect: r = np.array([[a - b * cut(a, b) for a, b in row] for row in pairs])
// expect: uq = np.array([[a // b for a, b in row] for row in bits], np.uint64)
// expect: ur = np.array([[a % b for a, b in row] for row in bits], np.uint64)
uint t = thread_position_in_grid.x, k = threadgroup_position_in_grid.y;
long d = n[k];
q[k * 300 + t] = x[t] / d;
r[k * 300 + t] = x[t] % d;
uq[k * 300 + t] = ulong(x[t]) / ulong(d);
ur[k * 300 + t] = ulong(x[t]) % ulong(d);
