// A butterfly for a SIMD-group of 64 lanes.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
for (ushort d = 32; d > 0; d /= 2) {
  v += simd_shuffle_xor(v, d);  // finds: shuffle-range
}
y[i] = v;
