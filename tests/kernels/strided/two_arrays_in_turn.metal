// Two arrays as one, an element of each in turn.
// input: a = float32[100] normal
// input: b = float32[100] normal
// output: y = float32[200]
// grid: 200
// threadgroup: 64
// expect: y = np.stack([a, b], axis=1).reshape(-1)
uint i = thread_position_in_grid.x;
y[i] = i & 1 ? b[i / 2] : a[i / 2];
