// Computed the other way round.
// input: n = int32[33] arange
// output: y = uint32[33]
// grid: 33
// threadgroup: 33
uint i = thread_position_in_grid.x;
y[i] = n[i] == 0 ? 0 : ~0u >> (32 - n[i]);
