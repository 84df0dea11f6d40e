// Each lane names the lane that it reads; the table of 16-bit and float values, too.
// input: x = float32[32] normal
// input: h = int16[32] random
// input: to = uint16[32] integers(0, 31)
// output: y = float32[32]
// output: z = int16[32]
// grid: 32
// threadgroup: 32
// expect: y = x[to]
// expect: z = h[to]
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle(x[i], to[i]);
z[i] = simd_shuffle(h[i], to[i]);
