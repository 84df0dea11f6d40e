// Each sets its own.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
threadgroup float scale;
if (thread_index_in_threadgroup == 0) scale = x[0];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = scale * x[i];
