// The result has a value before.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float largest = -INFINITY;
for (uint k = 0; k < i; ++k) {
  largest = k == 0 ? x[k] : max(largest, x[k]);
}
y[i] = i == 0 ? 0 : largest;
