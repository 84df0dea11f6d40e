// Value and index of the best: the index is read before the last one is there.
// input: x = float32[128] normal
// output: y = int32[1]
// grid: 128
// threadgroup: 128
threadgroup float best[4];
threadgroup int where_[4];
uint l = thread_index_in_threadgroup;
uint simdgroup = simdgroup_index_in_threadgroup;
float v = x[l];
float top = simd_max(v);
if (thread_index_in_simdgroup == 0) {
  best[simdgroup] = top;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
if (v == top) {
  where_[simdgroup] = l;  // finds: race-threadgroup (either)
}
if (l == 0) {
  int at = 0;
  for (int k = 1; k < 4; ++k) {
    if (best[k] > best[at]) at = k;
  }
  y[0] = where_[at];  // finds: race-threadgroup (either), undefined-output
}
