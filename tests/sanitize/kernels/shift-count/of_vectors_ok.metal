// Counts are made to fit.
// input: n = uint32[36] arange
// output: y = uint32[36]
// grid: 9
// threadgroup: 9
uint i = thread_position_in_grid.x;
uint4 v = ((const device uint4*)n)[i];
v <<= v & 31;
((device uint4*)y)[i] = v;
