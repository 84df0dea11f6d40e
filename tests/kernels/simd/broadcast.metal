// From a fixed lane, and from the first active one.
// input: x = float32[64] normal
// output: y = float32[64]
// output: z = float32[64]
// grid: 64
// threadgroup: 64
// expect: y = x.reshape(2, 32)[:, 13].repeat(32)
// expect: z = np.where(np.arange(64) % 32 < 5, 0, x.reshape(2, 32)[:, 5].repeat(32))
// init: 0
uint i = thread_position_in_grid.x;
y[i] = simd_broadcast(x[i], 13);
if (thread_index_in_simdgroup >= 5) z[i] = simd_broadcast_first(x[i]);
