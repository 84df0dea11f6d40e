// A reduction over 64 slots of which the threads fill 48.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
threadgroup float part[64];
if (i < 48) part[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint d = 32; d > 0; d /= 2) {
  if (i < d) part[i] += part[i + d];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = part[0];  // finds: undefined-output
