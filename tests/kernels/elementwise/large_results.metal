// Results larger than the caches, from one thread each and several, at the ends not a whole line.
// input: x = float32[9000001] normal
// output: y = float32[9000001]
// output: h = float16[9000001]
// grid: 9000001
// threadgroup: 256
// expect: y = x * 2
// expect: h = np.float32(x).astype(np.float16)
uint i = thread_position_in_grid.x;
y[i] = x[i] * 2;
h[i] = half(x[i]);
