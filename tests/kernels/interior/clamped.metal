// Indices clamped at both ends, in threadgroups of 16 x 16: a SIMD-group has two rows.
// input: x = float32[33, 150] normal
// output: out = float32[33, 150]
// grid: 150 33
// threadgroup: 16 16
// where: wide = np.pad(x, 2, mode="edge")
// expect: out = sum(wide[i : i + 33, j : j + 150] for i in (0, 2, 4) for j in (0, 1, 3, 4))
// close: 1e-5 1e-5
uint2 p = thread_position_in_grid.xy;
const uint rows = 33, columns = 150;
float sum = 0;
for (int dy = -2; dy <= 2; dy += 2) {
    uint r = clamp(int(p.y) + dy, 0, int(rows) - 1);
    uint one = p.x > 0 ? p.x - 1 : 0, two = p.x > 1 ? p.x - 2 : 0;
    sum += x[r * columns + two] + x[r * columns + one];
    sum += x[r * columns + min(p.x + 1, columns - 1)];
    sum += x[r * columns + min(p.x + 2, columns - 1)];
}
out[p.y * columns + p.x] = sum;
