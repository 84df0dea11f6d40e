// A pointer to one of two arrays, of which the second is shorter.
// input: a = float32[64]
// input: b = float32[32]
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
const device float* p = i % 2 ? a : b;
y[i] = p[i / 2];
