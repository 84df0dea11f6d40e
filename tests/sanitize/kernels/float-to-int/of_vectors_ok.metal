// int has room for all of half.
// input: x = float16[8] [1, 2, 3, 4, 5, 65504, -65504, 8]
// output: y = int32[8]
// grid: 2
// threadgroup: 2
uint i = thread_position_in_grid.x;
half4 v = ((const device half4*)x)[i];
((device int4*)y)[i] = int4(v);
