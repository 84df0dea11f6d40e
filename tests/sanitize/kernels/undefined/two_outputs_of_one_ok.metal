// It has a value.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
int at = 0;
if (i > 0) at = int(i);
if (at > 5) {
  y[i] = x[(i * 11) % 64];
  y[i] += x[(i * 13) % 64] * x[(i * 17) % 64];
} else {
  y[i] = at;
}
