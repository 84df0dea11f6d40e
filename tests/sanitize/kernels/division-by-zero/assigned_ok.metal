// Only where it may be.
// input: x = uint32[64] arange
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint2 v(1000, x[i]);
if (v.y) v.x %= v.y;
y[i] = v.x;
