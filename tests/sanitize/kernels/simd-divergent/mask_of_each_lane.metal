// Lanes have masks of their own.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_xor(x[i], ushort(i / 16 + 1));  // finds: simd-divergent
