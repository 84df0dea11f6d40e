// Counts in threadgroup memory, with atomics in one place only.
// input: x = uint32[256] integers(0, 7)
// output: y = uint32[8]
// grid: 256
// threadgroup: 64
// init: 0
threadgroup atomic_uint bins[8];
uint l = thread_index_in_threadgroup;
if (l < 8) {
  atomic_store_explicit(&bins[l], 0, memory_order_relaxed);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&bins[x[thread_position_in_grid.x]], 1u, memory_order_relaxed);  // finds: race-atomic (either)
if (l < 8) {
  uint count = *(threadgroup uint*)&bins[l];  // finds: race-atomic (either)
  atomic_fetch_add_explicit((device atomic_uint*)&y[l], count, memory_order_relaxed);
}
