// Operands of two types.
// input: a = float16[8,8] integers(-9, 9)
// input: b = float32[8,8] integers(-900, 900)
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a @ b
simdgroup_half8x8 p;
simdgroup_float8x8 q, r;
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_multiply(r, p, q);
simdgroup_store(r, y);
