// Neighbours on a ring, found by conditions; an early return; threads beyond the ring.
// input: x = float32[300] normal
// output: out = float32[320]
// grid: 320
// threadgroup: 64
// where: ring = np.roll(x, 1) + 2 * np.roll(x, -1)
// expect: out = np.r_[ring, np.full(20, -1)]
// close: 1e-5 1e-5
const uint i = thread_position_in_grid.x, n = 300;
out[i] = -1;
if (i >= n) return;
uint left = i == 0 ? n - 1 : i - 1;
int right = i + 1;
if (right >= int(n)) right -= n;
out[i] = x[left] + 2 * x[right];
