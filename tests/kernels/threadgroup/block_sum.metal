// A tree reduction; the last threadgroup is ragged.
// input: x = float32[200] integers
// output: y = float32[4]
// grid: 200
// threadgroup: 64
// expect: y = [x[i:i + 64].sum() for i in range(0, 200, 64)]
threadgroup float part[64];
uint lid = thread_position_in_threadgroup.x;
uint size = threads_per_threadgroup.x;
part[lid] = x[thread_position_in_grid.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint stride = 32; stride > 0; stride /= 2) {
  if (lid < stride && lid + stride < size) part[lid] += part[lid + stride];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
if (lid == 0) y[threadgroup_position_in_grid.x] = part[0];
