// Products of numbers that do not come out exactly.
// dtypes: float32 float16 bfloat16
// input: a = T[8,8] normal
// input: b = T[8,8] normal
// input: c = T[8,8] normal
// output: y = T[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a.astype(np.float64) @ b.astype(np.float64) + c
// close: 1e-5 1e-5
simdgroup_matrix<T, 8, 8> p, q, r;
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_load(r, c);
simdgroup_multiply_accumulate(r, p, q, r);
simdgroup_store(r, y);
