// It is rounded up.
// input: x = float32[70] normal
// output: y = float32[70]
// grid: 96
// threadgroup: 32
uint i = thread_position_in_grid.x;
if (i < x_shape[0]) {
  y[i] = x[i];
}
