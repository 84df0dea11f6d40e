// The constructor from a number makes a diagonal matrix.
// dtypes: float32 float16 bfloat16
// output: y = T[8,8]
// grid: 32
// threadgroup: 32
// expect: y = 2.5 * np.eye(8)
simdgroup_matrix<T, 8, 8> d(T(2.5f));
simdgroup_store(d, y);
