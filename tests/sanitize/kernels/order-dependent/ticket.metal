// The threadgroup that draws the last ticket writes another value.
// option: order=shuffle
// finds: order-dependent
// output: n = int32[1]
// output: y = int32[4]
// grid: 128
// threadgroup: 32
// init: 0
if (thread_index_in_threadgroup == 0) {
  int ticket = atomic_fetch_add_explicit((device atomic_int*)n, 1, memory_order_relaxed);
  y[threadgroup_position_in_grid.x] = ticket;
}
