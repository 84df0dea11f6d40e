// Threads return in different iterations of a loop; the others go on meeting at the barrier.
// output: y = int32[64]
// grid: 64
// threadgroup: 64
// init: 0
// expect: y = [sum(63 - k * 8 for k in range(i // 8 + 1)) for i in range(64)]
threadgroup int most;
uint i = thread_position_in_threadgroup.x;
int sum = 0;
for (uint iteration = 0; iteration < 8; iteration++) {
  if (i == 63) most = 63 - iteration * 8;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum += most;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < (iteration + 1) * 8) {
    y[i] = sum;
    return;
  }
}
