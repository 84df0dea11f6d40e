// Both ways give a value.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float a;
if (x[i] > 0) {
  a = x[i];
} else {
  a = 0;
}
y[i] = a;
