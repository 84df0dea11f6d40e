// A whole one.
// input: a = float32[8, 8] normal
// output: c = float32[8, 8]
// grid: 32
// threadgroup: 32
simdgroup_float8x8 m(1);
simdgroup_multiply_accumulate(m, m, m, m);
simdgroup_store(m, c, 8);
