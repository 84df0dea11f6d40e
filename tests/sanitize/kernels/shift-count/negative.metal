// A shift by a difference that is negative.
// input: n = int32[8] arange
// output: y = uint32[8]
// grid: 8
// threadgroup: 8
uint i = thread_position_in_grid.x;
y[i] = 0xf0f0u >> (n[i] - 2);  // finds: shift-count
