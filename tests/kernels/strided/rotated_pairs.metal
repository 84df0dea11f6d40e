// A thread for each number of a pair: which one it is decides how both are combined.
// input: x = float32[40, 64] normal
// input: c = float32[40, 32] normal
// input: s = float32[40, 32] normal
// output: y = float32[40, 64]
// grid: 64 40
// threadgroup: 32 4
// where: a = x[:, 0::2]
// where: b = x[:, 1::2]
// expect: y = np.stack([a * c - b * s, a * s + b * c], axis=2).reshape(40, 64)
// close: 1e-5 1e-5
uint i = thread_position_in_grid.x, row = thread_position_in_grid.y;
uint pair = i / 2;
float a = x[row * 64 + 2 * pair], b = x[row * 64 + 2 * pair + 1];
if (i % 2 == 1) {
  y[row * 64 + i] = a * s[row * 32 + pair] + b * c[row * 32 + pair];
} else {
  y[row * 64 + i] = a * c[row * 32 + pair] - b * s[row * 32 + pair];
}
