// The bounds check that every kernel begins with.
// input: x = float32[100] normal
// input: n = int32 61
// output: y = float32[100]
// grid: 100
// threadgroup: 32
// init: -1
// expect: y = np.where(tid < 61, x * x, -1)
uint i = thread_position_in_grid.x;
if (int(i) >= n) return;
y[i] = x[i] * x[i];
