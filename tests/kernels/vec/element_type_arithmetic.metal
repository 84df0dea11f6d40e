// Vectors of narrow integers compute in 8 and 16 bits, scalars in 32.
// input: a = uint8[33, 4] random
// input: b = uint8[33, 4] random
// output: sum = uint8[33, 4]
// output: mean = uint8[33, 4]
// output: wide = int32[33]
// output: product = int16[33, 2]
// grid: 33
// threadgroup: 32
// expect: sum = a.astype(int) + b
// expect: mean = ((a.astype(int) + b) % 256) // 2
// expect: wide = (a[:, 0].astype(int) + b[:, 0]) // 2
// expect: product = a[:, :2].astype(int) * b[:, :2] * 50
uint i = thread_position_in_grid.x;
uchar4 p = ((const device uchar4*)a)[i];
uchar4 q = ((const device uchar4*)b)[i];
((device uchar4*)sum)[i] = p + q;
((device uchar4*)mean)[i] = (p + q) / 2;
wide[i] = (p.x + q.x) / 2;
((device short2*)product)[i] = short2(p.xy) * short2(q.xy) * 50;
