// The others hold 0.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
threadgroup float part[64];
part[i] = i < 48 ? x[i] : 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint d = 32; d > 0; d /= 2) {
  if (i < d) part[i] += part[i + d];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = part[0];
