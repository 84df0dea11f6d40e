// The lanes wait for each other first.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 32
// threadgroup: 32
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
t[l + 32] = x[l + 32];
simdgroup_barrier(mem_flags::mem_threadgroup);
simdgroup_float8x8 m;
simdgroup_load(m, t, 8);
simdgroup_store(m, y, 8);
