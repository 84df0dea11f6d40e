// The barrier is behind the branch.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 64
uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
float v = x[i];
if (l < 16) {
  v += 1;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = v;
