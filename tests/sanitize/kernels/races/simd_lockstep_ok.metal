// Threads of one SIMD-group swap values and rely on lockstep.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// expect: y = x[::-1]
threadgroup float t[32];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
simdgroup_barrier(mem_flags::mem_threadgroup);
y[l] = t[31 - l];
