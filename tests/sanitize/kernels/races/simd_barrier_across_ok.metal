// Values cross to another SIMD-group behind a barrier of one's own.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// expect: y = x[::-1]
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[l] = t[63 - l];
