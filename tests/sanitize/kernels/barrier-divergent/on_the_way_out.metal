// Threads come to a barrier in different iterations of a loop, on their way out of it.
// input: x = int32[32] arange
// output: y = int32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
int k = 0;
for (; k < 40; ++k) {
  if (x[i] == k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
    break;
  }
}
y[i] = k;
