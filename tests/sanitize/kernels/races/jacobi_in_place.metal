// Each thread overwrites what its neighbours read.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 0; k < 4; ++k) {
  float v = (t[(l + 1) % 64] + t[(l + 63) % 64]) / 2;  // finds: race-threadgroup (either)
  t[l] = v;  // finds: race-threadgroup (either)
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[l] = t[l];
