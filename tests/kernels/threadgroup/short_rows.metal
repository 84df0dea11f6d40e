// Threadgroups of short rows: every kind of access by x and y, with rows that are not all there.
// input: a = float32[21, 64] normal
// input: w = float32[64] normal
// output: y = float32[21, 64]
// output: t = float32[64, 21]
// output: p = uint32[21, 64]
// grid: 64 21
// threadgroup: 16 6
// where:
//     r, c = np.divmod(np.arange(21 * 64), 64)
// expect: y = (a[r, 0] + w[c] * a[r, c // 16 * 16] + a[r, 63 - c]).reshape(21, 64)
// expect: t = a.T
// expect: p = (c % 16 + 100 * (r % 6)).reshape(21, 64)
// close: 1e-6
uint2 at = thread_position_in_grid.xy;
uint x = at.x, row = at.y * 64;
y[row + x] = a[row] + w[x] * a[row + x / 16 * 16] + a[row + 63 - x];
t[x * 21 + at.y] = a[row + x];
p[row + x] = thread_position_in_threadgroup.x + 100 * thread_position_in_threadgroup.y;
