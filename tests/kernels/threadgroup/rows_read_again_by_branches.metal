// What a team loads again for lack of registers is needed in branches and behind them.
// input: x = float32[4, 1024] normal
// input: flags = int32[4] [1, 0, 1, 0]
// output: y = float32[4, 1024]
// output: z = float32[4, 1024]
// init: 7
// grid: 256 4
// threadgroup: 256
// close: 1e-5
// where:
//     total = np.sum(x.astype(np.float64) ** 2, axis=1, keepdims=True)
// expect: y = np.where(flags[:, None] != 0, x * total, 7)
// expect: z = x + 1
threadgroup float partial[8];
uint t = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.y;
uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
float4 v = ((const device float4*)x)[row * 256 + t];
float sum = simd_sum(dot(v, v));
if (lane == 0) partial[group] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
float total = 0;
for (uint g = 0; g < 8; ++g) total += partial[g];
if (flags[row]) ((device float4*)y)[row * 256 + t] = v * total;
((device float4*)z)[row * 256 + t] = v + 1;
