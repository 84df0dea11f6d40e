// One component of one vector is 0.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 16
// threadgroup: 16
uint i = thread_position_in_grid.x;
int4 v = ((const device int4*)x)[i];
((device int4*)y)[i] = int4(100) / v;  // finds: division-by-zero
