// A function reads one element more of a private array than the caller has set.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
float total(thread const float* values, uint n) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum += values[k];
  return sum;
}
// body:
uint i = thread_position_in_grid.x;
float values[4];
for (uint k = 0; k < 3; ++k) values[k] = x[(i + k) % 64];
y[i] = total(values, 4);  // finds: undefined-output
