// A threadgroup that is no whole SIMD-group.
// input: a = float32[8, 8] normal
// output: c = float32[8, 8]
// init: 0
// grid: 16
// threadgroup: 16
simdgroup_float8x8 m(1);
simdgroup_multiply_accumulate(m, m, m, m);  // finds: simd-divergent
simdgroup_store(m, c, 8);  // finds: simd-divergent
