// Every lane has a divisor of its own, large ones and both signs included.
// input: x = int32[300] random
// input: y = int32[300] np.where(np.arange(300) % 2 == 0, np.random.default_rng(1).integers(-9, 9, 300), np.random.default_rng(2).integers(-2**31, 2**31, 300)) | 2
// output: q = int32[300]
// output: r = int32[300]
// output: uq = uint32[300]
// output: ur = uint32[300]
// grid: 300
// threadgroup: 64
// where:
//     quotient = np.array([int(a) // int(b) if (a < 0) == (b < 0) else -(abs(int(a)) // abs(int(b))) for a, b in zip(x, y)])
// expect: q = quotient
// expect: r = x - quotient * y
// expect: uq = x.view(np.uint32) // y.view(np.uint32)
// expect: ur = x.view(np.uint32) % y.view(np.uint32)
uint t = thread_position_in_grid.x;
q[t] = x[t] / y[t];
r[t] = x[t] % y[t];
uq[t] = uint(x[t]) / uint(y[t]);
ur[t] = uint(x[t]) % uint(y[t]);
