// 64-bit index arithmetic, negative offsets included.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = x[np.maximum(tid - 5, 0)]
int64_t i = thread_position_in_grid.x;
int64_t from = i - 5L;
const device float* base = x + (1L << 33);
y[size_t(i)] = from < 0 ? x[0] : base[from - (1L << 33)];
