// A thread for each row, which it stores to, reads again, and changes in place.
// input: x = float32[70, 96] normal
// output: y = float32[70, 96]
// grid: 70
// threadgroup: 64
// where: e = np.exp(x - x.max(axis=1, keepdims=True))
// expect: y = e / e.sum(axis=1, keepdims=True)
// close: 1e-5 1e-6
uint row = thread_position_in_grid.x;
float most = x[row * 96], sum = 0;
for (uint i = 1; i < 96; ++i) most = max(most, x[row * 96 + i]);
for (uint i = 0; i < 96; ++i) {
  y[row * 96 + i] = exp(x[row * 96 + i] - most);
  sum += y[row * 96 + i];
}
for (uint i = 0; i < 96; ++i) y[row * 96 + i] /= sum;
