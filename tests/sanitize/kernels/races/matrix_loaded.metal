// A matrix is loaded from what other lanes have just written.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 32
// threadgroup: 32
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];  // finds: race-threadgroup (either)
t[l + 32] = x[l + 32];  // finds: race-threadgroup (either)
simdgroup_float8x8 m;
simdgroup_load(m, t, 8);  // finds: race-threadgroup (either)
simdgroup_store(m, y, 8);
