// The same in threadgroup memory.
// input: x = int32[64] np.arange(64) % 5
// output: y = int32[4]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
threadgroup atomic_int bins[4];
if (i < 4) atomic_store_explicit(&bins[i], 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&bins[x[i] % 4], 1, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (i < 4) y[i] = atomic_load_explicit(&bins[i], memory_order_relaxed);
