// simd_sum, threadgroup memory, simd_sum.
// input: x = float32[500] integers
// output: y = float32[2]
// grid: 500
// threadgroup: 256
// expect: y = [x[:256].sum(), x[256:].sum()]
threadgroup float parts[32];
float sum = simd_sum(x[thread_position_in_grid.x]);
if (thread_index_in_simdgroup == 0) parts[simdgroup_index_in_threadgroup] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (simdgroup_index_in_threadgroup == 0) {
  uint lane = thread_index_in_simdgroup;
  float part = lane < simdgroups_per_threadgroup ? parts[lane] : 0;
  part = simd_sum(part);
  if (lane == 0) y[threadgroup_position_in_grid.x] = part;
}
