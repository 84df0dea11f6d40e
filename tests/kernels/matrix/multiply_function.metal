// simdgroup_multiply into a third matrix, and into one of its operands.
// input: a = float32[8,8] integers(-9, 9)
// input: b = float32[8,8] integers(-9, 9)
// output: y = float32[8,8]
// output: z = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a @ b
// expect: z = a @ b @ b
simdgroup_float8x8 p, q, r;
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_multiply(r, p, q);
simdgroup_store(r, y);
simdgroup_multiply(r, r, q);
simdgroup_store(r, z);
