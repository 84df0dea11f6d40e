// The mask of n bits, for n = 32.
// input: n = int32[33] arange
// output: y = uint32[33]
// grid: 33
// threadgroup: 33
uint i = thread_position_in_grid.x;
y[i] = (1u << n[i]) - 1;  // finds: shift-count
