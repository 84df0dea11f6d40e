// Blocks of 8 lanes are filled from within.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i < 24) v = simd_shuffle_and_fill_down(v, 1.0f, 4, 8);
y[i] = v;
