// What stands first decides that it is there.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float a;
if (i < 32) a = x[i];
if (i < 32 && a > 0) {
  y[i] = x[(i * 5) % 64] / x[i];
  y[63 - i] = x[(i * 3) % 64];
} else if (i < 32) {
  y[i] = 0;
  y[63 - i] = 1;
}
