// Truth values cross lanes by the names that MLX adds.
// input: x = bool[32] random
// input: fill = bool[32] random
// output: y = bool[4, 32]
// grid: 32
// where:
//     k = np.arange(32)
// expect: y = np.stack([x[k ^ 5], np.where(k < 1, x, np.roll(x, 1)), np.where(k < 29, np.roll(x, -3), x), np.where(k >= 8, np.roll(x, 8), np.roll(fill, 8))])
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle(x[i], uint16_t(i ^ 5));
y[32 + i] = simd_shuffle_up(x[i], 1);
y[64 + i] = simd_shuffle_down(x[i], 3);
y[96 + i] = simd_shuffle_and_fill_up(x[i], fill[i], 8);
