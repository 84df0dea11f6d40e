// The threadgroup has as many threads as there is work.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float shared[64];
uint i = thread_position_in_grid.x;
if (simdgroup_index_in_threadgroup >= 2) return;
shared[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = shared[i ^ 33];
