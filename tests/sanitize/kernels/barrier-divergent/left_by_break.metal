// Some threads leave a loop whose other threads still wait for each other.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
int k = 0;
for (; k < 8; ++k) {
  if (x[i] % 8 == k) break;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
}
y[i] = k;
