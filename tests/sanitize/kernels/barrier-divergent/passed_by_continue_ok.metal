// The work is left out, not the barrier.
// input: x = int32[32] arange
// output: y = int32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
int sum = 0;
for (int k = 0; k < 4; ++k) {
  if (x[i] % 4 != k) sum += k;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = sum;
