// A divisor that all threads share.
// input: x = int32[300] random
// input: u = uint32[300] random
// input: n = int32 -7
// input: m = uint32 641
// output: q = int32[300]
// output: r = int32[300]
// output: uq = uint32[300]
// output: ur = uint32[300]
// grid: 300
// threadgroup: 64
// where:
//     quotient = np.trunc(x.astype(np.longdouble) / -7).astype(np.int64)
// expect: q = quotient
// expect: r = x - quotient * -7
// expect: uq = u // 641
// expect: ur = u % 641
uint t = thread_position_in_grid.x;
q[t] = x[t] / n;
r[t] = x[t] % n;
uq[t] = u[t] / m;
ur[t] = u[t] % m;
