// They stay for the shuffle.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float v = i < 40 ? x[i] : 0;
v += simd_shuffle_xor(v, 16);
if (i < 40) y[i] = v;
