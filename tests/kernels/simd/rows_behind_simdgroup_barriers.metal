// Lanes of a SIMD-group hand on rows through threadgroup memory, without a threadgroup barrier.
// dtypes: float32 float16 int32
// input: x = T[1024] random
// output: y = T[1024]
// grid: 1024
// threadgroup: 128
// where:
//     r = x.reshape(32, 32)
//     back = r[:, ::-1]
// expect: y = np.where(np.arange(32) % 2 == 0, np.roll(back, 1, axis=1), back)
threadgroup T rows[4][32];
uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
threadgroup T* row = rows[group];
row[31 - lane] = x[thread_position_in_grid.x];
simdgroup_barrier(mem_flags::mem_threadgroup);
T mine = row[lane];
simdgroup_barrier(mem_flags::mem_threadgroup);
row[(lane + 1) % 32] = mine;
simdgroup_barrier(mem_flags::mem_threadgroup);
if (lane % 2 == 0) {
  mine = row[lane];
  simdgroup_barrier(mem_flags::mem_none);
}
y[thread_position_in_grid.x] = mine;
