// half arithmetic rounds each result, as in memory.
// input: a = float16[200] normal
// input: b = float16[200] normal
// input: c = float16[200] normal
// output: y = float16[200]
// output: z = float16[200]
// grid: 200
// threadgroup: 64
// where:
//     p, q, r = (v.astype(np.float16) for v in (a, b, c))
//     product = p * q
//     quotient = p / q
// expect: y = product + r
// expect: z = quotient - r
uint t = thread_position_in_grid.x;
half product = a[t] * b[t];
y[t] = product + c[t];
half quotient = a[t] / b[t];
z[t] = quotient - c[t];
