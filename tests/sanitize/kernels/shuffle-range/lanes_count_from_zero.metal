// There is no lane 32.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = simd_broadcast(x[i], 32);  // finds: shuffle-range
