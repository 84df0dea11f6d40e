// They return behind it.
// input: x = float32[100] normal
// output: y = float32[100]
// grid: 128
// threadgroup: 64
threadgroup float shared[64];
uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
shared[l] = i < 100 ? x[i] : 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (i >= 100) return;
y[i] = shared[l];
