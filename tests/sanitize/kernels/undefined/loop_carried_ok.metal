// The first iteration is told apart.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float last;
float total = 0;
for (uint k = 0; k < 8; ++k) {
  if (k > 0) total += last * x[(i + k) % 64];
  last = x[k];
}
y[i] = total;
