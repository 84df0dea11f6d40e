// Between quads the SIMD-group's shuffle is right.
// input: x = int32[32] integers
// output: y = int32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = x[i] * simd_shuffle_xor(x[i], 4);
