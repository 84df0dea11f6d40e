// A threadgroup a row: the largest, the sum, and what is in between.
// input: x = float32[6, 256] normal(0, 3)
// output: y = float32[6, 256]
// grid: 64 6
// threadgroup: 64
// where: e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
// expect: y = e / e.sum(1, keepdims=True)
// close: 1e-5
threadgroup float partial[2];
uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
uint i = threadgroup_position_in_grid.y * 64 + thread_position_in_threadgroup.x;
float4 v = ((const device float4*)x)[i];
float largest = simd_max(max(max(v.x, v.y), max(v.z, v.w)));
if (lane == 0) partial[group] = largest;
threadgroup_barrier(mem_flags::mem_threadgroup);
v = exp(v - max(partial[0], partial[1]));
threadgroup_barrier(mem_flags::mem_threadgroup);
float total = simd_sum(v.x + v.y + v.z + v.w);
if (lane == 0) partial[group] = total;
threadgroup_barrier(mem_flags::mem_threadgroup);
((device float4*)y)[i] = v / (partial[0] + partial[1]);
