// Hillis and Steele: two barriers an iteration.
// input: x = int32[120] integers
// output: y = int32[120]
// grid: 120
// threadgroup: 120
// expect: y = np.cumsum(x)
threadgroup int sums[128];
uint i = thread_position_in_threadgroup.x;
sums[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint step = 1; step < threads_per_threadgroup.x; step *= 2) {
  int before = i >= step ? sums[i - step] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sums[i] += before;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = sums[i];
