// An input that has NaN may give NaN.
// option: nan=true
// input: x = float32[64] np.where(np.arange(64) == 3, np.nan, 1)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = x[i] / simd_sum(x[i]);
