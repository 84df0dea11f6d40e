// A sum by five exchanges with lanes whose numbers differ in one bit.
// input: x = float32[64] integers
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// expect: y = x.reshape(2, 32).sum(axis=1).repeat(32)
uint i = thread_position_in_grid.x;
float v = x[i];
for (ushort m = 1; m < 32; m <<= 1) v += simd_shuffle_xor(v, m);
y[i] = v;
