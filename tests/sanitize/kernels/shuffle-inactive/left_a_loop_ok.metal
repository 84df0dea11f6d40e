// All stay until the last one is done.
// input: n = int32[32] arange
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
for (int k = 0; simd_any(k < n[i]); ++k) {
  float other = simd_shuffle(v, 0);
  if (k < n[i]) v = 0.5f * (v + other);
}
y[i] = v;
