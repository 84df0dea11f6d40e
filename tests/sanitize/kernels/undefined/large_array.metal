// A large private array, read one element beyond what was written.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float table[128];
uint n = i + 1;
for (uint k = 0; k < n; ++k) {
  table[k] = x[k];
}
float sum = 0;
for (uint k = 0; k <= n; ++k) {
  sum += table[k];
}
y[i] = sum;  // finds: undefined-output
