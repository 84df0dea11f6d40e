// Threads without work return before a barrier of the others.
// input: x = float32[100] normal
// output: y = float32[100]
// grid: 128
// threadgroup: 64
threadgroup float shared[64];
uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
if (i >= 100) return;
shared[l] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-after-return
y[i] = shared[l];
