// All lanes take part.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
float other = simd_shuffle_down(v, 8);
if (i < 16) v += other;
y[i] = v;
