// Groups take the barrier loop a different number of times.
// input: x = int32[160] integers
// output: y = int32[160]
// grid: 160
// threadgroup: 40
// expect: y = np.concatenate([np.roll(x[g * 40:g * 40 + 40], -(g + 1)) for g in range(4)])
threadgroup int slots[40];
uint lid = thread_position_in_threadgroup.x;
int value = x[thread_position_in_grid.x];
for (uint iteration = 0; iteration <= threadgroup_position_in_grid.x; iteration++) {
  slots[lid] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  value = slots[(lid + 1) % 40];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[thread_position_in_grid.x] = value;
