// A threadgroup array whose end is another one's begin.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
uint l = thread_position_in_threadgroup.x;
threadgroup float a[32], b[32];
a[l] = x[i];
b[l] = -x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = a[l + 1] + b[l];  // finds: bounds-read
