// Rounding to nearest even, overflow to infinity, half subnormals.
// input: x = float32[300] np.random.default_rng(5).normal(size=300) * 10.0 ** np.random.default_rng(6).integers(-9, 9, 300)
// output: h = uint16[300]
// output: b = uint16[300]
// grid: 300
// threadgroup: 64
// where:
//     bits = x.view(np.uint32).astype(np.uint64)
// expect: h = x.astype(np.float16).view(np.uint16)
// expect: b = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16
uint t = thread_position_in_grid.x;
h[t] = as_type<ushort>(half(x[t]));
b[t] = as_type<ushort>(bfloat(x[t]));
