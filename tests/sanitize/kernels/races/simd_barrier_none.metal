// simdgroup_barrier that orders no memory.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// expect: y = x.reshape(2, 32)[:, ::-1].reshape(-1)
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];  // finds: race-threadgroup (either)
simdgroup_barrier(mem_flags::mem_none);
y[l] = t[l / 32 * 32 + 31 - l % 32];  // finds: race-threadgroup (either)
