// 64-bit integers cross lanes by the names that MLX adds.
// dtypes: int64 uint64
// input: x = T[64] random
// input: fill = T[64] random
// output: y = T[4, 64]
// grid: 64
// threadgroup: 64
// where:
//     v, f = x.reshape(2, 32), fill.reshape(2, 32)
//     k = np.arange(32)
// expect: y = np.stack([v[:, ::-1], v[:, np.maximum(k - 4, k % 4)] * 0 + np.where(k < 4, v, np.roll(v, 4, 1)),
//     np.where(k < 22, np.roll(v, -10, 1), v), np.where(k >= 3, np.roll(v, 3, 1), np.roll(f, 3, 1))])
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle(x[i], uint16_t(31 - thread_index_in_simdgroup));
y[64 + i] = simd_shuffle_up(x[i], 4);
y[128 + i] = simd_shuffle_down(x[i], 10);
y[192 + i] = simd_shuffle_and_fill_up(x[i], fill[i], 3);
