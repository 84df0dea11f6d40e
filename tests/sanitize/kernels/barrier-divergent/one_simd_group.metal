// A barrier of one SIMD-group alone; the others come to the next one.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 128
uint i = thread_position_in_grid.x;
float v = x[i];
if (simdgroup_index_in_threadgroup == 0) {
  v *= 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = v;
