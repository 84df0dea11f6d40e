// The array has room for 31 of 32 threads.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
uint l = thread_position_in_threadgroup.x;
threadgroup float t[32];
t[l] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = t[0];
