// Lanes at the edge keep their own value; rotations wrap.
// input: x = int32[32] random
// output: up = int32[32]
// output: down = int32[32]
// output: around = int32[32]
// output: back = int32[32]
// grid: 32
// threadgroup: 32
// where:
//     i = np.arange(32)
// expect: up = x[np.where(i >= 3, i - 3, i)]
// expect: down = x[np.where(i < 27, i + 5, i)]
// expect: around = np.roll(x, 7)
// expect: back = np.roll(x, -7)
uint i = thread_position_in_grid.x;
up[i] = simd_shuffle_up(x[i], 3);
down[i] = simd_shuffle_down(x[i], 5);
around[i] = simd_shuffle_rotate_up(x[i], 7);
back[i] = simd_shuffle_rotate_down(x[i], 7);
