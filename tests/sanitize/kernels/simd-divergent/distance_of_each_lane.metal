// Lanes shift by different distances.
// input: d = int32[32] arange
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_up(x[i], ushort(d[i] % 3));  // finds: simd-divergent
