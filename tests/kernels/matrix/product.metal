// The product of two matrices; sums of small integers are exact in every type.
// dtypes: float32 float16 bfloat16
// input: a = T[8,8] integers(-4, 5)
// input: b = T[8,8] integers(-4, 5)
// output: y = T[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a @ b
simdgroup_matrix<T, 8, 8> x, z;
simdgroup_load(x, a);
simdgroup_load(z, b);
simdgroup_store(x * z, y);
