// What a reduction gives is the same in all lanes, so it may steer a loop with a barrier inside.
// covers: barriers in uniform loops
// input: x = int32[64] integers(1, 6)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// where:
//     r = x.reshape(2, 32)
// expect: y = np.repeat(r.max(1) * (r.max(1) + 1) // 2, 32)
uint i = thread_position_in_grid.x;
threadgroup int shared[32];
int rounds = simd_max(x[i]), total = 0;
for (int iteration = 0; iteration < rounds; ++iteration) {
  shared[thread_index_in_simdgroup] = iteration + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total += shared[31 - thread_index_in_simdgroup];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = total;
