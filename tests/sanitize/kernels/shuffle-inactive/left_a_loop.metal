// Lanes have left the loop in which others go on asking them.
// input: n = int32[32] arange
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
for (int k = 0; k < n[i]; ++k) {
  v = 0.5f * (v + simd_shuffle(v, 0));  // finds: shuffle-inactive
}
y[i] = v;
