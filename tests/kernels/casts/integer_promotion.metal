// Small types compute as int, and wrap when they are stored.
// input: a = uint8[64] random
// input: b = int8[64] random
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// where:
//     p, q = a.astype(int), b.astype(int)
//     u = (p + q) & 255
// expect: y = p * q + (p << 4) + (~p) + u + (p - 300)
uint t = thread_position_in_grid.x;
uchar sum = a[t] + b[t];
y[t] = a[t] * b[t] + (a[t] << 4) + ~a[t] + sum + (a[t] - 300);
