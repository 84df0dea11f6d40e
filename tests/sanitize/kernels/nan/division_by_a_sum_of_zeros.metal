// A row of zeros has no mean of anything.
// option: nan=true
// input: x = float32[64] np.arange(64) // 32
// output: y = float32[64]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
y[i] = x[i] / simd_sum(x[i]);  // finds: nan
