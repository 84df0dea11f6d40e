// The maximum of all is taken by all SIMD-groups, each for itself, and written by all.
// input: x = float32[128] normal
// output: y = float32[1]
// grid: 128
// threadgroup: 128
// expect: y = [x.max()]
threadgroup float tops[4];
float top = simd_max(x[thread_index_in_threadgroup]);
if (thread_index_in_simdgroup == 0) {
  tops[simdgroup_index_in_threadgroup] = top;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
top = max(max(tops[0], tops[1]), max(tops[2], tops[3]));
if (thread_index_in_simdgroup == 0) {
  y[0] = top;  // finds: race-device
}
