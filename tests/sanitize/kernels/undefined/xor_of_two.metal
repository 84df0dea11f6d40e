// Two variables without a value are not alike.
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint a;
uint b;
y[i] = (a ^ b) + i;  // finds: undefined-output
