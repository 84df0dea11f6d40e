// A variance that rounding makes negative.
// option: nan=true
// input: x = float32[64] np.full(64, 0.1)
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = sqrt(x[i] * x[i] - 0.02f);  // finds: nan
