// A sum of floats that must not be reordered: in each lane the small numbers vanish in the large.
// input: x = float32[64, 4] np.tile([1e8, 1, -1e8, 1], (64, 1))
// output: y = float32[64, 4]
// output: sum = float32[2]
// grid: 64
// threadgroup: 64
// expect: y = x * 2
// expect: sum = 32
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i];
((device float4*)y)[i] = v * 2;
sum[simdgroup_index_in_threadgroup] = simd_sum(v.x + v.y + v.z + v.w);
