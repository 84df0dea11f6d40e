// A reduction by halves in long, which has no simd_sum.
// input: x = int64[64] random
// output: y = int64[2]
// grid: 64
// threadgroup: 64
// expect: y = x.reshape(2, 32).sum(axis=1)
uint i = thread_position_in_grid.x;
long total = x[i];
for (uint16_t step = 16; step > 0; step /= 2) total += simd_shuffle_down(total, step);
if (thread_index_in_simdgroup == 0) y[simdgroup_index_in_threadgroup] = total;
