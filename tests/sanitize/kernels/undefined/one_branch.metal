// A value on one of two ways only.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float a;
if (x[i] > 0) {
  a = x[i];
}
y[i] = a;  // finds: undefined-output
