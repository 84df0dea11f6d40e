// 64-bit division has no vector form: lanes that do not divide must not trap, whatever they hold.
// input: x = uint64[64] random
// input: y = uint64[64] np.arange(64) % 3
// input: zero = int64 0
// output: q = uint64[64]
// output: r = int64[64]
// output: anything = int64[64]
// grid: 64
// threadgroup: 32
// expect: q = np.where(y > 0, x // np.maximum(y, np.uint64(1)), np.uint64(7))
// expect: r = np.where(y > 1, (x >> np.uint64(1)).astype(np.int64) % 2, -1)
uint t = thread_position_in_grid.x;
q[t] = y[t] > 0 ? x[t] / y[t] : 7;
r[t] = -1;
if (y[t] > 1) r[t] = long(x[t] >> 1) % long(y[t]);
anything[t] = long(x[t]) / long(y[t]) + long(y[t]) / zero;
