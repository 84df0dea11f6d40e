// Values cross to another SIMD-group behind a barrier of one's own.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];  // finds: race-threadgroup (either)
simdgroup_barrier(mem_flags::mem_threadgroup);
y[l] = t[63 - l];  // finds: race-threadgroup (either), undefined-output
