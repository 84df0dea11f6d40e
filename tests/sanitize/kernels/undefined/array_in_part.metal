// A private array of which the last element is not set.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float window[8];
for (uint k = 0; k < 7; ++k) {
  window[k] = x[(i + k) % 64];
}
y[i] = window[i % 8];  // finds: undefined-output
