// One thread leaves the scale for all, in each row.
// input: x = float32[4, 64] normal
// output: y = float32[4, 64]
// grid: 64
// threadgroup: 64
threadgroup float sums[2];
threadgroup float scale;
uint l = thread_index_in_threadgroup;
for (uint row = 0; row < 4; ++row) {
  float v = x[row * 64 + l];
  float sum = simd_sum(v * v);
  if (thread_index_in_simdgroup == 0) {
    sums[simdgroup_index_in_threadgroup] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) {
    scale = rsqrt((sums[0] + sums[1]) / 64 + 1e-5f);  // finds: race-threadgroup (either)
  }
  y[row * 64 + l] = v * scale;  // finds: race-threadgroup (either)
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
