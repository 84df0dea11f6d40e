// One byte of four is read twice: once for all of them, once among its neighbours.
// input: a = uint8[300, 4]
// input: b = uint8[300, 4]
// output: y = uint8[300, 4]
// grid: 300
// threadgroup: 64
// where: w = a[:, 3:].astype(np.int64)
// expect: y = (a * w + b * (255 - w) + 127) // 255
uint i = thread_position_in_grid.x;
uint alpha = a[4 * i + 3];
for (uint j = 0; j < 4; ++j) {
  uint v = a[4 * i + j] * alpha + b[4 * i + j] * (255 - alpha);
  y[4 * i + j] = uchar((v + 127) / 255);
}
