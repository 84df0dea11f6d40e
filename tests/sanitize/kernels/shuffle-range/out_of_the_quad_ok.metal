// The last one is 3.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = quad_shuffle(x[i], 3) + quad_shuffle_xor(x[i], 3) + quad_shuffle_up(x[i], 2);
