// The distance to the nearest mark in a row: up the row, then down again, in place.
// input: x = uint8[40, 64] integers(0, 3)
// output: y = int32[40, 64]
// grid: 40
// threadgroup: 32
// where: i = np.arange(64)
// where: far = np.where(x[:, None, :] == 0, abs(i[:, None] - i[None, :]), 1000)
// expect: y = np.minimum(far.min(axis=2), 1001 + i)
int row = thread_position_in_grid.x;
int far = 1000;
for (int i = 0; i < 64; ++i) {
  far = x[row * 64 + i] == 0 ? 0 : far + 1;
  y[row * 64 + i] = far;
}
far = 5000;
for (int i = 63; i >= 0; --i) {
  far = x[row * 64 + i] == 0 ? 0 : far + 1;
  y[row * 64 + i] = min(y[row * 64 + i], far);
}
