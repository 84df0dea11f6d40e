// Distances, masks and lanes that are known only when the kernel runs.
// dtypes: float32 uint16 int8
// input: n = int32 6
// input: x = T[64] random
// output: y = T[5, 64]
// grid: 64
// threadgroup: 64
// where:
//     v, k = x.reshape(2, 32), np.arange(32)
// expect: y = np.stack([np.where(k >= 6, np.roll(v, 6, 1), v), np.where(k < 26, np.roll(v, -6, 1), v), v[:, k ^ 6], np.repeat(v[:, 6:7], 32, 1), np.roll(v, 6, 1)])
uint i = thread_position_in_grid.x;
ushort d = n;
y[i] = simd_shuffle_up(x[i], d);
y[64 + i] = simd_shuffle_down(x[i], d);
y[128 + i] = simd_shuffle_xor(x[i], d);
y[192 + i] = simd_broadcast(x[i], d);
y[256 + i] = simd_shuffle_rotate_up(x[i], d);
