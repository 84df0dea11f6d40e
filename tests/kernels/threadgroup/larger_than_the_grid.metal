// A threadgroup of 256 for 10 threads: only ten exist, and the size says so.
// input: x = int32[10] integers(-9, 9)
// output: y = int32[10]
// grid: 10
// threadgroup: 256
// expect: y = x.sum() * 100 + 10
threadgroup atomic_int sum;
if (thread_index_in_threadgroup == 0) atomic_store_explicit(&sum, 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&sum, x[thread_position_in_grid.x], memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
y[thread_position_in_grid.x] =
    atomic_load_explicit(&sum, memory_order_relaxed) * 100 + int(threads_per_threadgroup.x);
