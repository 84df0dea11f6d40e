// With it.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float m[4][4];
for (uint r = 0; r < 4; ++r) {
  for (uint c = 0; c < 4; ++c) {
    m[r][c] = r != c ? x[(i + 4 * r + c) % 64] : 1;
  }
}
y[i] = m[i % 4][i / 4 % 4];
