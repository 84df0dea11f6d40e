// A chain of exchanges: what all threads got, and what is left, is what all put in.
// output: y = int32[2]
// grid: 200
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = [np.arange(1, 201).sum(), 200]
uint i = thread_position_in_grid.x;
threadgroup atomic_int last;
threadgroup atomic_int sum;
uint lid = thread_index_in_threadgroup;
if (lid == 0) {
  atomic_store_explicit(&last, 0, memory_order_relaxed);
  atomic_store_explicit(&sum, 0, memory_order_relaxed);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
int before = atomic_exchange_explicit(&last, int(i + 1), memory_order_relaxed);
atomic_fetch_add_explicit(&sum, before, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (lid == 0) {
  int rest = atomic_load_explicit(&last, memory_order_relaxed);
  atomic_fetch_add_explicit(&y[0], atomic_load_explicit(&sum, memory_order_relaxed) + rest, memory_order_relaxed);
}
atomic_fetch_add_explicit(&y[1], 1, memory_order_relaxed);
