// Nine neighbours, zeros outside: gangs inside of the image and at each of its edges.
// input: x = float32[37, 96] normal
// input: w = float32[3, 3] normal
// output: out = float32[37, 96]
// grid: 96 37
// threadgroup: 32 1
// where: wide = np.pad(x, 1)
// expect: out = sum(w[i, j] * wide[i : i + 37, j : j + 96] for i in range(3) for j in range(3))
// close: 1e-5 1e-5
int column = thread_position_in_grid.x, row = thread_position_in_grid.y;
int rows = x_shape[0], columns = x_shape[1];
float sum = 0;
for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
        int r = row + dy, c = column + dx;
        if (r >= 0 && r < rows && c >= 0 && c < columns) {
            sum += w[(dy + 1) * 3 + dx + 1] * x[r * columns + c];
        }
    }
}
out[row * columns + column] = sum;
