// Loads and stores of the transposed matrix, with a stride and an origin.
// dtypes: float32 float16 bfloat16
// input: x = T[10,12] integers(0, 99)
// output: y = T[8,8]
// output: z = T[10,12]
// init: 7
// grid: 32
// threadgroup: 32
// where: e = np.full((10, 12), 7.0); e[1:9, 3:11] = x[2:, 4:].T
// expect: y = x[2:, 4:].T
// expect: z = e
simdgroup_matrix<T, 8, 8> m, n;
simdgroup_load(m, x, 12, ulong2(4, 2), true);
simdgroup_store(m, y);
simdgroup_load(n, x, 12, ulong2(4, 2), false);
simdgroup_store(n, z, 12, ulong2(3, 1), true);
