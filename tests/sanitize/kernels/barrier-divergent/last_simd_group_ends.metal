// One SIMD-group does not come to the barrier at all.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 128
uint i = thread_position_in_grid.x;
y[i] = x[i];
if (simdgroup_index_in_threadgroup < 3) {
  threadgroup_barrier(mem_flags::mem_device);  // finds: barrier-divergent
}
