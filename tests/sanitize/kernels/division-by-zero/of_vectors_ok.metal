// The component that is missing in a vector of three does not count.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 16
// threadgroup: 16
uint i = thread_position_in_grid.x;
int4 v = ((const device int4*)x)[i];
int3 q = int3(100) / (v.yzw + 1);
((device int4*)y)[i] = int4(q, v.x);
