// Each threadgroup writes its sum to the same element.
// input: x = float32[128] normal
// output: y = float32[4]
// grid: 128
// threadgroup: 32
// init: 0
float sum = simd_sum(x[thread_position_in_grid.x]);
if (thread_index_in_threadgroup == 0) {
  y[0] = sum;  // finds: race-groups
}
