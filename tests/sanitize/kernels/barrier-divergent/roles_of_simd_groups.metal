// Producers and consumers wait at barriers of their own.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float v = x[i];
if (simdgroup_index_in_threadgroup == 0) {
  v *= 3;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent (either)
} else {
  v *= 5;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent (either)
}
y[i] = v;
