// The first thread does.
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
threadgroup atomic_uint count;
if (i == 0) atomic_store_explicit(&count, 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = atomic_load_explicit(&count, memory_order_relaxed);
