// The last threadgroup to arrive adds up, but nothing makes what the others wrote visible.
// input: x = float32[256] integers(-9, 9)
// output: partial = float32[8]
// output: counter = uint32[1]
// output: y = float32[1]
// grid: 256
// threadgroup: 32
// init: 0
uint group = threadgroup_position_in_grid.x;
float sum = simd_sum(x[thread_position_in_grid.x]);
if (thread_index_in_simdgroup == 0) {
  partial[group] = sum;  // finds: race-groups (either)
  uint before = atomic_fetch_add_explicit((device atomic_uint*)counter, 1u, memory_order_relaxed);
  if (before == threadgroups_per_grid.x - 1) {
    float total = 0;
    for (uint g = 0; g < 8; ++g) {
      total += partial[g];  // finds: race-groups (either)
    }
    y[0] = total;
  }
}
