// Conway's game of life on a torus whose rows are no multiple of a SIMD-group.
// input: x = uint8[50, 200] integers(0, 1)
// output: out = uint8[50, 200]
// grid: 200 50
// threadgroup: 32 4
// where: n = sum(np.roll(np.roll(x, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
// expect: out = (n == 3) | ((n == 2) & (x == 1))
int px = thread_position_in_grid.x, py = thread_position_in_grid.y;
const int rows = 50, columns = 200;
int n = 0;
for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
        if (dx == 0 && dy == 0) continue;
        n += x[(py + dy + rows) % rows * columns + (px + dx + columns) % columns];
    }
}
out[py * columns + px] = n == 3 || (n == 2 && x[py * columns + px]);
