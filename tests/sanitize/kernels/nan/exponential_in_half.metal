// e^12 is too large for half.
// option: nan=true
// input: x = float16[64] np.arange(64) / 5
// output: y = float16[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = exp(x[i]);  // finds: nan
