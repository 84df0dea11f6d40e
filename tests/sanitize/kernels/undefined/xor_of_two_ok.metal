// One is like itself.
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint a;
y[i] = (a ^ a) + i;
