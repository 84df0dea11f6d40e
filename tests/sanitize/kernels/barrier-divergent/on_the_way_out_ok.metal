// Behind the loop all are there.
// input: x = int32[32] arange
// output: y = int32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
int k = 0;
for (; k < 40; ++k) {
  if (x[i] == k) break;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = k;
