// Stores with stride 2.
// input: a = float32[60] normal
// input: b = float32[60] normal
// output: y = float32[120]
// grid: 60
// threadgroup: 32
// expect: y = np.stack([a, b], axis=1).reshape(-1)
uint i = thread_position_in_grid.x;
y[2 * i] = a[i];
y[2 * i + 1] = b[i];
