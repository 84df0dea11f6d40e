// Shift counts are taken modulo the width.
// input: x = int32[120] random
// input: k = int32[120] integers(-70, 70)
// output: left = int32[120]
// output: right = int32[120]
// output: logical = uint32[120]
// output: fixed = uint32[120]
// output: wide = int64[120]
// grid: 120
// threadgroup: 32
// where:
//     u = x.view(np.uint32)
// expect: left = (u.astype(np.uint64) << (k & 31).astype(np.uint64)).astype(np.uint32).view(np.int32)
// expect: right = x >> (k & 31)
// expect: logical = u >> (k & 31).astype(np.uint32)
// expect: fixed = (u.astype(np.int64) << 1) & 0xffffffff
// expect: wide = x.astype(np.int64) << (k & 63)
uint t = thread_position_in_grid.x;
left[t] = x[t] << k[t];
right[t] = x[t] >> k[t];
logical[t] = uint(x[t]) >> uint(k[t]);
fixed[t] = uint(x[t]) << 33;
wide[t] = long(x[t]) << k[t];
