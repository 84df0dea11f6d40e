// Complex numbers cross lanes by the names that MLX adds.
// input: x = complex64[32] normal(size=(32,)) + 1j * np.arange(32)
// input: fill = complex64[32] np.arange(32) - 2j
// output: y = complex64[4, 32]
// grid: 32
// where:
//     k = np.arange(32)
// expect: y = np.stack([x[(k * 3) % 32], np.where(k < 2, x, np.roll(x, 2)), np.where(k < 31, np.roll(x, -1), x), np.where(k >= 5, np.roll(x, 5), np.roll(fill, 5))])
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle(x[i], uint16_t(i * 3 % 32));
y[32 + i] = simd_shuffle_up(x[i], 2);
y[64 + i] = simd_shuffle_down(x[i], 1);
y[96 + i] = simd_shuffle_and_fill_up(x[i], fill[i], 5);
