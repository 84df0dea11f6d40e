// All threads of a threadgroup take the same side.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (threadgroup_position_in_grid.x % 2 == 0) {
  v += 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
} else {
  v -= 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = v;
