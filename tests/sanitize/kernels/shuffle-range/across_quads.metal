// A mask that leads to another quad.
// input: x = int32[32] integers
// output: y = int32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = x[i] * quad_shuffle_xor(x[i], 4);  // finds: shuffle-range
