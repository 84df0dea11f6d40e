// A remainder by a number of groups that is 0.
// input: groups = uint32 0
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = i % groups;  // finds: division-by-zero
