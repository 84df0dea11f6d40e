// Indices that turn around at both ends of a row.
// input: x = float32[8, 96] normal
// output: out = float32[8, 96]
// grid: 96 8
// threadgroup: 32 8
// where: wide = np.pad(x, ((0, 0), (3, 3)), mode="reflect")
// expect: out = sum((j + 1) * wide[:, j : j + 96] for j in range(7))
// close: 1e-4 1e-5
const int px = thread_position_in_grid.x, py = thread_position_in_grid.y, n = 96;
float sum = 0;
for (int d = -3; d <= 3; ++d) {
    int i = px + d;
    if (i < 0) i = -i;
    if (i >= n) i = 2 * n - 2 - i;
    sum += (d + 4) * x[py * n + i];
}
out[py * n + px] = sum;
