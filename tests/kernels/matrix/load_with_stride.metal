// Rows further apart than they are long; what lies between is left alone.
// dtypes: float32 float16 bfloat16
// input: x = T[8,13] integers(0, 99)
// output: y = T[8,21]
// init: 5
// grid: 32
// threadgroup: 32
// expect: y = np.hstack([x[:, :8], np.full((8, 13), 5)])
simdgroup_matrix<T, 8, 8> m;
simdgroup_load(m, x, x_shape[1]);
simdgroup_store(m, y, 21);
