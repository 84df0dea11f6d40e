// 128 bits, and vectors of three, which count as four.
// input: x = uint32[8, 4] random
// output: y = uint32[8, 4]
// output: z = uint32[8, 3]
// grid: 8
// expect: y = x
// expect: z = x[:, :3]
uint i = thread_position_in_grid.x;
uint4 v = ((const device uint4*)x)[i];
((device uint4*)y)[i] = as_type<uint4>(as_type<ulong2>(as_type<float4>(as_type<int4>(v))));
float3 three = as_type<float3>(v);
*(device packed_uint3*)(z + 3 * i) = as_type<uint3>(three);
