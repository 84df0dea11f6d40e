// Two ways that want opposite things of one bound, and a select between two loads.
// input: x = float32[96] normal
// input: n = int32 40
// output: out = float32[96]
// grid: 96
// threadgroup: 32
// where: i = np.arange(96)
// expect: out = np.where(i < 40, x, 2 * x[95 - i]) + np.where(i < 40, x[(i + 1) % 96], x[i - 1])
// close: 1e-6 1e-6
int i = thread_position_in_grid.x;
float value = 0;
if (i < n) value = x[i];
if (i >= n) value = 2 * x[95 - i];
float a = x[(i + 1) % 96], b = x[(i + 95) % 96];
out[i] = value + (i < n ? a : b);
