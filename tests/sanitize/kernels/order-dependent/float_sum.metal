// A sum of floats by atomics: rounding depends on who comes first.
// option: order=shuffle
// finds: order-dependent
// input: x = float32[512] normal
// output: y = float32[1]
// grid: 512
// threadgroup: 64
// init: 0
// atomic_outputs: true
uint i = thread_position_in_grid.x;
float sum = simd_sum(x[i]);
if (thread_index_in_simdgroup == 0)
  atomic_fetch_add_explicit(&y[0], sum, memory_order_relaxed);
