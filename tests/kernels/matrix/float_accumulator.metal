// Half and bfloat operands with a float accumulator: nothing is rounded to 16 bits.
// dtypes: float16 bfloat16
// input: a = T[8,8] integers(1, 200)
// input: b = T[8,8] integers(1, 200)
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a @ b + 0.25
simdgroup_matrix<T, 8, 8> p, q;
simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.25f);
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_multiply_accumulate(sum, p, q, sum);
simdgroup_store(sum, y);
