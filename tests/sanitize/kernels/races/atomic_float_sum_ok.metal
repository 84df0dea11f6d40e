// A sum by atomics, and a plain addition on top.
// input: x = float32[64] normal
// output: y = float32[1]
// grid: 64
// threadgroup: 32
// init: 0
float sum = simd_sum(x[thread_position_in_grid.x]);
if (thread_index_in_simdgroup == 0) {
  atomic_fetch_add_explicit((device atomic_float*)y, sum, memory_order_relaxed);
}
