// By one of two SIMD-groups.
// input: a = float32[8, 8] normal
// output: c = float32[8, 8]
// grid: 64
// threadgroup: 64
if (simdgroup_index_in_threadgroup == 1) {
  simdgroup_float8x8 m, n;
  simdgroup_load(m, a, 8);
  simdgroup_multiply(n, m, m);
  simdgroup_store(n, c, 8);
}
