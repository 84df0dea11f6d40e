// All SIMD-groups come to it.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 128
uint i = thread_position_in_grid.x;
y[i] = x[i];
if (simdgroup_index_in_threadgroup < 4) {
  threadgroup_barrier(mem_flags::mem_device);
}
