// make_filled_simdgroup_matrix, with and without the number of rows.
// output: y = float32[8,8]
// output: z = bfloat16[8,8]
// grid: 32
// threadgroup: 32
// expect: y = np.full((8, 8), 3.5)
// expect: z = np.full((8, 8), -2)
simdgroup_store(make_filled_simdgroup_matrix<float, 8, 8>(3.5f), y);
simdgroup_store(make_filled_simdgroup_matrix<bfloat, 8>(bfloat(-2.0f)), z);
