// Blocks of 2, 4, 8, 16 and 32 lanes, filled from the other value.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[64] random
// input: fill = T[64] random
// output: y = T[5, 64]
// grid: 64
// threadgroup: 64
// where:
//     k = np.arange(32)
//     def half(v, f, m, d): return np.where(k % m + d < m, v[np.minimum(k + d, 31)], f[np.maximum(k + d - m, 0)])
//     def both(m, d): return [half(x[:32], fill[:32], m, d), half(x[32:], fill[32:], m, d)]
// expect: y = np.stack([both(2, 1), both(4, 3), both(8, 5), both(16, 2), both(32, 20)])
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_and_fill_down(x[i], fill[i], 1, 2);
y[64 + i] = simd_shuffle_and_fill_down(x[i], fill[i], 3, 4);
y[128 + i] = simd_shuffle_and_fill_down(x[i], fill[i], 5, 8);
y[192 + i] = simd_shuffle_and_fill_down(x[i], fill[i], 2, 16);
y[256 + i] = simd_shuffle_and_fill_down(x[i], fill[i], 20, 32);
