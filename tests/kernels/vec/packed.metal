// packed_float3 steps by 12 bytes.
// input: x = float32[50, 3] integers
// output: y = float32[50, 3]
// grid: 50
// threadgroup: 32
// expect: y = x * [1, 2, 3] + 1
uint i = thread_position_in_grid.x;
float3 v = ((const device packed_float3*)x)[i];
((device packed_float3*)y)[i] = packed_float3(v * float3(1, 2, 3) + 1);
