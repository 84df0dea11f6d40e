// The upper half of the SIMD-group does not take part, but its values are taken.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i < 16) v += simd_shuffle_down(v, 8);  // finds: shuffle-inactive
y[i] = v;
