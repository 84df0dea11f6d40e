// One mask.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_xor(x[i], ushort(threads_per_threadgroup.x / 16 + 1));
