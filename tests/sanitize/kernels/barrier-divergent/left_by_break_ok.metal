// All threads leave together.
// input: x = int32[64] 3 + np.zeros(64)
// output: y = int32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
int k = 0;
for (; k < 8; ++k) {
  if (x[i] % 8 == k) break;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = k;
