// Lanes have returned whose values are needed.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
if (i >= 40) return;
float v = x[i];
v += simd_shuffle_xor(v, 16);  // finds: shuffle-inactive
y[i] = v;
