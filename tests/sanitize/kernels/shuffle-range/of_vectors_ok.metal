// It is brought into range.
// input: from = int32[32] arange
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i];
((device float4*)y)[i] = simd_shuffle(v, ushort(from[i] * 2 % 32));
