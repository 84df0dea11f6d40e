// It is; any() of the others decides nothing else.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
bool4 b;
b.x = false;
b.y = false;
b.z = x[i] > 100;
b.w = x[i] < -100;
if (any(b)) {
  y[i] = x[(i * 7) % 64];
  y[i] *= x[(i * 5) % 64];
} else {
  y[i] = x[i];
}
