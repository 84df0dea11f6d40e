// The division is not done there.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = x[i] == 0 ? 0 : 1000 / x[i];
