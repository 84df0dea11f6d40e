// atomic_bool: store, load, exchange and compare-exchange; one thread of each group wins.
// output: y = int32[3]
// output: z = bool[3]
// grid: 192
// threadgroup: 64
// expect: y = [1, 1, 1]
// expect: z = True
threadgroup atomic_bool taken, raised;
threadgroup atomic_int winners;
uint lid = thread_index_in_threadgroup, group = threadgroup_position_in_grid.x;
if (lid == 0) {
  atomic_store_explicit(&taken, false, memory_order_relaxed);
  atomic_store_explicit(&raised, false, memory_order_relaxed);
  atomic_store_explicit(&winners, 0, memory_order_relaxed);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
bool expected = false;
while (!atomic_compare_exchange_weak_explicit(&taken, &expected, true, memory_order_relaxed, memory_order_relaxed) && !expected) {
}
if (!expected) atomic_fetch_add_explicit(&winners, 1, memory_order_relaxed);
if (lid == 13) atomic_exchange_explicit(&raised, true, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (lid == 0) {
  y[group] = atomic_load_explicit(&winners, memory_order_relaxed);
  z[group] = atomic_load_explicit(&raised, memory_order_relaxed);
}
