// Every operation of atomic_uint in threadgroup memory.
// input: x = uint32[96] integers(1, 1000)
// output: y = uint32[3, 8]
// grid: 96
// threadgroup: 32
// where:
//     r = x.reshape(3, 32)
//     u = np.bitwise_and.reduce(r | 3, axis=1), np.bitwise_or.reduce(r, axis=1), np.bitwise_xor.reduce(r, axis=1)
// expect: y = np.stack([r.sum(1), 100000 - r.sum(1), r.min(1), r.max(1), *u, r.sum(1) * 0 + 5], axis=1).astype(np.uint32)
uint i = thread_position_in_grid.x, lid = thread_position_in_threadgroup.x;
threadgroup atomic_uint cells[8];
if (lid < 8) {
  const uint start[] = {0, 100000, 100000, 0, -1 & 0x7fffffff, 0, 0, 0};
  atomic_store_explicit(&cells[lid], start[lid], memory_order_relaxed);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&cells[0], x[i], memory_order_relaxed);
atomic_fetch_sub_explicit(&cells[1], x[i], memory_order_relaxed);
atomic_fetch_min_explicit(&cells[2], x[i], memory_order_relaxed);
atomic_fetch_max_explicit(&cells[3], x[i], memory_order_relaxed);
atomic_fetch_and_explicit(&cells[4], x[i] | 3, memory_order_relaxed);
atomic_fetch_or_explicit(&cells[5], x[i], memory_order_relaxed);
atomic_fetch_xor_explicit(&cells[6], x[i], memory_order_relaxed);
atomic_exchange_explicit(&cells[7], 5, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (lid < 8) y[8 * threadgroup_position_in_grid.x + lid] = atomic_load_explicit(&cells[lid], memory_order_relaxed);
