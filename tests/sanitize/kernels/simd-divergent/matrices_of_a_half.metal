// A product of matrices by half of a SIMD-group.
// input: a = float32[8, 8] normal
// output: c = float32[8, 8]
// init: 0
// grid: 32
// threadgroup: 32
simdgroup_float8x8 m(0), n(0);
if (thread_index_in_simdgroup < 16) {
  simdgroup_load(m, a, 8);  // finds: simd-divergent
  simdgroup_multiply(n, m, m);  // finds: simd-divergent
  simdgroup_store(n, c, 8);  // finds: simd-divergent
}
