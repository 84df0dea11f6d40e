// Signed and unsigned arithmetic wrap around.
// input: x = int32[64] random
// output: y = int32[64]
// output: l = int64[64]
// output: bigger = bool[64]
// grid: 64
// threadgroup: 32
// expect: y = (x.astype(np.int64) * 1000003 + 2147483647)
// expect: l = x.astype(np.int64) * 1000003 + 2147483647
// expect: bigger = (x + np.int32(1)) > x
uint t = thread_position_in_grid.x;
y[t] = x[t] * 1000003 + 2147483647;
l[t] = long(x[t]) * 1000003 + 2147483647;
bigger[t] = x[t] + 1 > x[t];
