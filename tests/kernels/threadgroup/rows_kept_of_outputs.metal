// What a team has read of an output stays what it was, though the output is written in between.
// input: x = float32[4, 1024] normal
// output: y = float32[4, 1024]
// init: 3
// grid: 256 4
// threadgroup: 256
// close: 1e-5
// expect: y = x + np.full((4, 1024), 3 * 9 * 1024, np.float32)
threadgroup float partial[8];
uint i = threadgroup_position_in_grid.y * 256 + thread_position_in_threadgroup.x;
uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
float4 v = ((device float4*)y)[i];
float sum = simd_sum(dot(v, v));
((device float4*)y)[i] = ((const device float4*)x)[i];
if (lane == 0) partial[group] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
float total = 0;
for (uint g = 0; g < 8; ++g) total += partial[g];
((device float4*)y)[i] += v * total;
