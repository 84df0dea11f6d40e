// Sampling between four pixels, with zeros outside: the heart of grid_sample.
// input: image = float32[8, 9] integers
// input: at = float32[70, 2] uniform(-2, 10)
// output: y = float32[70]
// where:
//     padded = np.zeros((40, 40))
//     padded[10:18, 10:19] = image
//     px_, py_ = at[:, 0].astype(float), at[:, 1].astype(float)
//     x0, y0 = np.floor(px_).astype(int), np.floor(py_).astype(int)
//     fx, fy = px_ - x0, py_ - y0
//     top = padded[y0 + 10, x0 + 10] * (1 - fx) + padded[y0 + 10, x0 + 11] * fx
//     low = padded[y0 + 11, x0 + 10] * (1 - fx) + padded[y0 + 11, x0 + 11] * fx
// grid: 70
// threadgroup: 32
// expect: y = top * (1 - fy) + low * fy
// close: 1e-5 1e-4
uint t = thread_position_in_grid.x;
float px = at[2 * t];
float py = at[2 * t + 1];
int left = int(floor(px));
int top = int(floor(py));
float sum = 0;
for (int dy = 0; dy < 2; dy++) {
  for (int dx = 0; dx < 2; dx++) {
    int column = left + dx;
    int row = top + dy;
    if (column < 0 || column >= 9 || row < 0 || row >= 8) continue;
    float wx = dx == 0 ? float(left + 1) - px : px - float(left);
    float wy = dy == 0 ? float(top + 1) - py : py - float(top);
    sum += image[row * 9 + column] * wx * wy;
  }
}
y[t] = sum;
