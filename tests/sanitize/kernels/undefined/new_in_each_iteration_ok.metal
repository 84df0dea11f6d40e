// One in front of the loop has.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float sum = 0;
float kept[2];
for (uint k = 0; k < 4; ++k) {
  if (k == 0) {
    kept[0] = x[i];
    kept[1] = -x[i];
  }
  sum += kept[(i + k) % 2];
}
y[i] = sum;
