// The divisor is 0 in one element.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = 1000 / x[i];  // finds: division-by-zero
