// SIMD-groups share out the work so that some have one more iteration.
// input: x = float32[5, 32] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 128
uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
float sum = 0;
for (uint row = simdgroup_index_in_threadgroup; row < 5; row += 4) {
  sum += x[row * 32 + lane];
  threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
}
y[i] = sum;
