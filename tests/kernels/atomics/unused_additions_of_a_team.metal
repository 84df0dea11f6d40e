// Additions whose old values nobody uses, in a loop of several SIMD-groups that run as one; atomic
// loads and stores of threadgroup memory; and sums of each worker that lie side by side.
// input: x = uint8[32768] random
// output: y = uint32[256]
// grid: 8192
// threadgroup: 256
// init: 0
// atomic_outputs: true
// expect: y = np.bincount(x, minlength=256)
threadgroup atomic_uint bins[256];
uint t = thread_position_in_threadgroup.x, first = threadgroup_position_in_grid.x * 1024;
atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = t; i < 1024; i += 256) {
  atomic_fetch_add_explicit(&bins[x[first + i]], 1, memory_order_relaxed);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
uint count = atomic_load_explicit(&bins[t], memory_order_relaxed);
atomic_fetch_add_explicit(&y[t], count, memory_order_relaxed);
