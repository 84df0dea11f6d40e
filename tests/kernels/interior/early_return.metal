// A return for threads behind the end, and unsigned bounds from below.
// input: x = float32[100] normal
// input: n = uint32 77
// output: out = float32[128]
// grid: 128
// threadgroup: 64
// init: 0
// where: before = np.concatenate([[0], x[:-1]])
// expect: out = np.where(np.arange(128) < 77, np.pad(x + before, (0, 28)), 0)
// close: 1e-6 1e-6
uint i = thread_position_in_grid.x;
if (i >= n) return;
float value = x[i];
if (i > 0) value += x[i - 1];
out[i] = value;
