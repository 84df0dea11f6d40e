// All have one.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint n = 1;
if (i % 2 == 0) n = i / 2 + 1;
float sum = 0;
for (uint k = 0; k < n; ++k) {
  sum += x[k % 64];
}
y[i] = sum;
