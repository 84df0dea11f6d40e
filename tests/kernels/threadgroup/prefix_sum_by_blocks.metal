// Scan in each SIMD-group, then of their sums, with barriers between.
// input: x = uint32[1000] integers(0, 50)
// output: y = uint32[1000]
// grid: 1000
// threadgroup: 1000
// expect: y = np.cumsum(x)
threadgroup uint sums[32];
uint i = thread_index_in_threadgroup;
uint value = x[i];
uint inclusive = simd_prefix_inclusive_sum(value);
if (thread_index_in_simdgroup == 31 || i + 1 == threads_per_threadgroup.x)
  sums[simdgroup_index_in_threadgroup] = inclusive;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (simdgroup_index_in_threadgroup == 0) {
  uint lane = thread_index_in_simdgroup;
  uint own = lane < simdgroups_per_threadgroup ? sums[lane] : 0;
  sums[lane] = simd_prefix_exclusive_sum(own);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = inclusive + sums[simdgroup_index_in_threadgroup];
