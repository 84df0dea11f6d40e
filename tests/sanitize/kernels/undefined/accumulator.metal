// A sum that begins with nothing.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float sum;
for (uint k = 0; k <= i; ++k) {
  sum += x[k];
}
y[i] = sum;  // finds: undefined-output
