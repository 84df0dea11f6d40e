// The grid is rounded down to whole threadgroups.
// input: x = float32[70] normal
// output: y = float32[70]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
if (i < x_shape[0]) {
  y[i] = x[i];  // finds: unwritten-output
}
