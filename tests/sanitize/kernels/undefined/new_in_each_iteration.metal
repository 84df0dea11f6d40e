// A variable of the loop's body has no value from the iteration before.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float sum = 0;
for (uint k = 0; k < 4; ++k) {
  float kept[2];
  if (k == 0) {
    kept[0] = x[i];
    kept[1] = -x[i];
  }
  sum += kept[(i + k) % 2];
}
y[i] = sum;  // finds: undefined-output
