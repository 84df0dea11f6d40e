// What a team loads again is needed in branches, behind them, and as an index, in one section.
// input: x = float32[4, 1024] normal
// input: flags = int32[4] [1, 0, 1, 0]
// output: y = float32[4, 1024]
// grid: 256 4
// threadgroup: 256
// close: 1e-5
// where:
//     wide = x.astype(np.float64)
//     total = np.sum(wide ** 2, axis=1, keepdims=True)
//     on = flags[:, None] != 0
// expect: y = np.where(on, wide * total, -wide) + wide + np.where(on, 0, wide * wide)
threadgroup float partial[8];
uint t = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.y;
uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
float4 v = ((const device float4*)x)[row * 256 + t];
float sum = simd_sum(dot(v, v));
if (lane == 0) partial[group] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
float total = 0;
for (uint g = 0; g < 8; ++g) total += partial[g];
float4 result;
if (flags[row]) result = v * total;
else result = -v;
for (int k = 0; k < 1 - flags[row]; ++k) result += v * v;
((device float4*)y)[row * 256 + t] = result + v;
