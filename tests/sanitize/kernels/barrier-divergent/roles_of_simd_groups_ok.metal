// Producers and consumers meet at one barrier.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float v = x[i];
if (simdgroup_index_in_threadgroup == 0) {
  v *= 3;
} else {
  v *= 5;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = v;
