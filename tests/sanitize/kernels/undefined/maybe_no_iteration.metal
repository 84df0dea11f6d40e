// A loop that some threads never enter sets the result.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float largest;
for (uint k = 0; k < i; ++k) {
  largest = k == 0 ? x[k] : max(largest, x[k]);
}
y[i] = largest;  // finds: undefined-output
