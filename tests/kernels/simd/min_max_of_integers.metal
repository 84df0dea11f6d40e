// Signed, unsigned and narrow types.
// input: a = int32[64] random
// input: b = uint32[64] random
// input: c = int8[64] random
// output: ya = int32[64]
// output: yb = uint32[64]
// output: yc = int8[64]
// grid: 64
// threadgroup: 32
// expect: ya = a.reshape(2, 32).min(axis=1).repeat(32)
// expect: yb = b.reshape(2, 32).max(axis=1).repeat(32)
// expect: yc = c.reshape(2, 32).min(axis=1).repeat(32)
uint i = thread_position_in_grid.x;
ya[i] = simd_min(a[i]);
yb[i] = simd_max(b[i]);
yc[i] = simd_min(c[i]);
