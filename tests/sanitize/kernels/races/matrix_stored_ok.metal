// The lanes wait for each other first.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 32
// threadgroup: 32
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
simdgroup_float8x8 m;
simdgroup_load(m, x, 8);
simdgroup_store(m, t, 8);
simdgroup_barrier(mem_flags::mem_threadgroup);
y[l] = t[l];
y[l + 32] = t[l + 32];
