// simdgroup_multiply in each precision, with the filled and the diagonal matrix as operands.
// dtypes: float32 float16 bfloat16
// input: x = T[8, 8] integers(-3, 3)
// output: y = T[8, 8]
// output: z = T[8, 8]
// grid: 32
// expect: y = 2 * np.repeat(x.sum(1, keepdims=True), 8, axis=1)
// expect: z = 3 * x
simdgroup_matrix<T, 8, 8> a, p, two = make_filled_simdgroup_matrix<T, 8>(T(2)), three(T(3));
simdgroup_load(a, x);
simdgroup_multiply(p, a, two);
simdgroup_store(p, y);
simdgroup_multiply(p, three, a);
simdgroup_store(p, z);
