// The SIMD-group that comes first decides, within one threadgroup.
// option: order=shuffle
// output: y = int32[1]
// grid: 128
// threadgroup: 128
threadgroup atomic_int first;
if (thread_index_in_threadgroup == 0) atomic_store_explicit(&first, -1, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
int none = -1;
if (thread_index_in_threadgroup == 32)
  atomic_compare_exchange_weak_explicit(&first, &none, int(simdgroup_index_in_threadgroup),
                                        memory_order_relaxed, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (thread_index_in_threadgroup == 0) y[0] = atomic_load_explicit(&first, memory_order_relaxed);
