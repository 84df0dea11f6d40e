// Even lanes ask odd ones, which are not there.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i % 2 == 0) v -= simd_shuffle_xor(v, 1);  // finds: shuffle-inactive
y[i] = v;
