// The last lane has no next one.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = x[i] - simd_shuffle(x[i], ushort(i + 1));  // finds: shuffle-range
