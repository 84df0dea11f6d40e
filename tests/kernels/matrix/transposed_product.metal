// a * b^T, as attention scores are computed.
// input: a = float32[8,8] integers(-9, 9)
// input: b = float32[8,8] integers(-9, 9)
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a @ b.T
simdgroup_float8x8 q, k, s;
simdgroup_load(q, a);
simdgroup_load(k, b, 8, 0, true);
simdgroup_multiply(s, q, k);
simdgroup_store(s, y, 8);
