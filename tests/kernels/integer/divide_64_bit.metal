// 64-bit quotients and remainders.
// input: x = int64[80] random
// input: y = int64[80] integers(1, 10**12)
// output: q = int64[80]
// output: r = uint64[80]
// grid: 80
// threadgroup: 32
// expect: q = np.sign(x) * (np.abs(x) // y)
// expect: r = x.view(np.uint64) % y.view(np.uint64)
uint t = thread_position_in_grid.x;
q[t] = x[t] / y[t];
r[t] = ulong(x[t]) % ulong(y[t]);
