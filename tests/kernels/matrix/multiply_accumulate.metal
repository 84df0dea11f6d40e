// a * b + c in all types.
// dtypes: float32 float16 bfloat16
// input: a = T[8,8] integers(-4, 5)
// input: b = T[8,8] integers(-4, 5)
// input: c = T[8,8] integers(-50, 50)
// output: y = T[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a @ b + c
simdgroup_matrix<T, 8, 8> p, q, r, s;
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_load(r, c);
simdgroup_multiply_accumulate(s, p, q, r);
simdgroup_store(s, y);
