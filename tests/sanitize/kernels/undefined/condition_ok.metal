// It is false before.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
bool found = false;
for (uint k = 0; k < 4; ++k) {
  if (x[(i + k) % 64] > 100) found = true;
}
if (found) {
  y[i] = 1;
} else {
  y[i] = x[(i * 7) % 64];
  y[i] += x[(i * 3) % 64];
}
