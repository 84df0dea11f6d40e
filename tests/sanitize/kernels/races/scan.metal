// A prefix sum that reads and writes one buffer.
// input: x = int32[64] integers(-9, 9)
// output: y = int32[64]
// grid: 64
// threadgroup: 64
threadgroup int t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint d = 1; d < 64; d *= 2) {
  int v = l >= d ? t[l - d] : 0;  // finds: race-threadgroup (either)
  t[l] += v;  // finds: race-threadgroup (either)
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[l] = t[l];
