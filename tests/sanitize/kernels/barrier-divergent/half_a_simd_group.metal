// A barrier that only the first 16 threads of each threadgroup reach.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 64
uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
if (l < 16) {
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
}
y[i] = x[i];
