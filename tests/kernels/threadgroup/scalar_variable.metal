// A threadgroup variable that is no array.
// input: x = int32[96] integers
// output: y = int32[96]
// grid: 96
// threadgroup: 32
// expect: y = x - x.reshape(3, 32).max(axis=1).repeat(32)
threadgroup int most;
uint i = thread_position_in_grid.x;
uint lid = thread_position_in_threadgroup.x;
if (lid == 0) {
  most = x[i];
  for (uint k = 1; k < 32; k++) most = max(most, x[i + k]);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = x[i] - most;
