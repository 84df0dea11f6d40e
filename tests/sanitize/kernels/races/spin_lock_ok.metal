// A lock of one thread of each SIMD-group; without fences it guards nothing.
// output: y = int32[1]
// grid: 128
// threadgroup: 128
// init: 0
threadgroup atomic_uint lock;
threadgroup int count;
if (thread_index_in_threadgroup == 0) {
  atomic_store_explicit(&lock, 0, memory_order_relaxed);
  count = 0;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
if (thread_index_in_simdgroup == 0) {
  while (atomic_exchange_explicit(&lock, 1u, memory_order_relaxed) != 0) {
  }
  atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_threadgroup);
  count += 1;
  atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_threadgroup);
  atomic_store_explicit(&lock, 0u, memory_order_relaxed);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
if (thread_index_in_threadgroup == 0) y[0] = count;
