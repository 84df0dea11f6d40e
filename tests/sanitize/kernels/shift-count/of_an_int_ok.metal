// A number of 64 bits is shifted.
// input: n = int32[64] arange
// output: y = uint64[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = ulong(1) << n[i];
