// The last rounds stay within a SIMD-group, but nothing orders its threads.
// input: x = float32[128] integers(-9, 9)
// output: y = float32[1]
// grid: 128
// threadgroup: 128
// expect: y = [x.sum()]
threadgroup float t[128];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint half_ = 64; half_ > 16; half_ /= 2) {
  if (l < half_) {
    t[l] += t[l + half_];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
if (l < 32) {
  for (uint half_ = 16; half_ > 0; half_ /= 2) {
    if (l < half_) {
      t[l] += t[l + half_];  // finds: race-threadgroup
    }
  }
}
if (l == 0) {
  y[0] = t[0];
}
