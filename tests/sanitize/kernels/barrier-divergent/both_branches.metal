// A barrier on each side of a branch is no barrier for all threads.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i % 2 == 0) {
  v += 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
} else {
  v -= 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
}
y[i] = v;
