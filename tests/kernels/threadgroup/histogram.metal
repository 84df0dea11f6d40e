// Threadgroup atomics, one histogram a group, added up in device memory.
// input: x = uint8[500] integers(0, 15)
// output: bins = uint32[16]
// grid: 500
// threadgroup: 128
// init: 0
// expect: bins = np.bincount(x, minlength=16)
threadgroup atomic_uint local[16];
uint lid = thread_position_in_threadgroup.x;
if (lid < 16) atomic_store_explicit(&local[lid], 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&local[x[thread_position_in_grid.x]], 1, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (lid < 16) {
  uint count = atomic_load_explicit(&local[lid], memory_order_relaxed);
  atomic_fetch_add_explicit((device atomic_uint*)bins + lid, count, memory_order_relaxed);
}
