// One SIMD-group synchronises itself.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 128
uint i = thread_position_in_grid.x;
float v = x[i];
if (simdgroup_index_in_threadgroup == 0) {
  v *= 2;
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = v;
