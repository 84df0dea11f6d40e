// MLX's prelude adds shuffles for 64-bit integers and bool.
// input: x = int64[32] random
// input: b = bool[32] random
// output: y = int64[32]
// output: z = bool[32]
// grid: 32
// threadgroup: 32
// expect: y = np.concatenate([x[4:], x[28:]])
// expect: z = b[31 - np.arange(32)]
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_down(x[i], uint16_t(4));
z[i] = simd_shuffle(b[i], uint16_t(31 - i));
