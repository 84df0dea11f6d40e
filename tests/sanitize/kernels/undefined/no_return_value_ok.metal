// It returns on all ways.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
float sign_of(float v) {
  if (v > 0) return 1;
  if (v < -1) return -1;
  return 0;
}
// body:
uint i = thread_position_in_grid.x;
y[i] = sign_of(x[i]);
