// `%=` of a component.
// input: x = uint32[64] arange
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint2 v(1000, x[i]);
v.x %= v.y;  // finds: division-by-zero
y[i] = v.x;
