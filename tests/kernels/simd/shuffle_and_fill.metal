// Values move in from another register.
// input: x = int32[32] random
// input: f = int32[32] random
// output: up = int32[32]
// output: down = int32[32]
// grid: 32
// threadgroup: 32
// where:
//     i = np.arange(32)
// expect: up = np.where(i >= 5, x[(i - 5) % 32], f[(i - 5) % 32])
// expect: down = np.where(i + 9 < 32, x[(i + 9) % 32], f[(i + 9) % 32])
uint i = thread_position_in_grid.x;
up[i] = simd_shuffle_and_fill_up(x[i], f[i], 5);
down[i] = simd_shuffle_and_fill_down(x[i], f[i], 9);
