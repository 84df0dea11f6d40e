// Loads from and stores to threadgroup memory, padded rows.
// dtypes: float32 float16 bfloat16
// input: x = T[8,8] integers(0, 9)
// output: y = T[8,8]
// grid: 32
// threadgroup: 32
// expect: y = (x @ x).T
threadgroup T tile[8][12];
threadgroup T result[8 * 9];
uint lane = thread_index_in_simdgroup;
for (uint i = lane; i < 64; i += 32) tile[i / 8][i % 8] = x[i];
simdgroup_barrier(mem_flags::mem_threadgroup);
simdgroup_matrix<T, 8, 8> m;
simdgroup_load(m, &tile[0][0], 12);
m = m * m;
simdgroup_store(m, result, 9);
simdgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = lane; i < 64; i += 32) y[i] = result[i % 8 * 9 + i / 8];
