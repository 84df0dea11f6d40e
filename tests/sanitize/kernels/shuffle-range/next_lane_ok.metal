// Shifting leaves the last lane its own value, and rotating gives it that of the first one.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = x[i] - simd_shuffle_down(x[i], 1) + simd_shuffle_rotate_down(x[i], 1) * simd_shuffle_up(x[i], 40);
