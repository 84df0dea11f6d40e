// One component is shifted too far.
// input: n = uint32[36] arange
// output: y = uint32[36]
// grid: 9
// threadgroup: 9
uint i = thread_position_in_grid.x;
uint4 v = ((const device uint4*)n)[i];
v <<= v;  // finds: shift-count
((device uint4*)y)[i] = v;
