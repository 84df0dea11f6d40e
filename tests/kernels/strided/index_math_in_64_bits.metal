// Offsets computed in 64 bits, whose parts do not fit into 32.
// input: x = float32[64] integers(-9, 9)
// input: big = int64[64] np.arange(64) * 10_000_000_000
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = x[(np.arange(64) * 37) % 64] + x[63 - np.arange(64)]
uint t = thread_position_in_grid.x;
const long far = big[t] * 37 + 64l * 3;
const size_t at = size_t(far / 10000000000l) % 64;
const ulong back = (ulong(1) << 40) + 63 - t;
y[t] = x[at] + x[back & 63];
