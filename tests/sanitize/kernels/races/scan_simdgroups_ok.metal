// Sums of SIMD-groups are added up by the first, which does not wait for the others.
// input: x = int32[128] integers(-9, 9)
// output: y = int32[128]
// grid: 128
// threadgroup: 128
// expect: y = np.cumsum(x)
threadgroup int sums[4];
uint l = thread_index_in_threadgroup;
uint simdgroup = simdgroup_index_in_threadgroup;
int before = simd_prefix_inclusive_sum(x[l]);
if (thread_index_in_simdgroup == 31) {
  sums[simdgroup] = before;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
int offset = 0;
for (uint k = 0; k < simdgroup; ++k) {
  offset += sums[k];
}
y[l] = before + offset;
