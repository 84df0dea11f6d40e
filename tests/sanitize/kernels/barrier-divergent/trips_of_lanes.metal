// A loop that runs as often as an input says, with a barrier in it.
// input: n = int32[32] arange
// output: y = int32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
int sum = 0;
for (int k = 0; k < n[i]; ++k) {
  sum += k;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
}
y[i] = sum;
