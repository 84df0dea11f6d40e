// Side by side in threadgroup memory: what an exchange and an addition give back.
// input: x = uint32[96] random
// output: old = uint32[96]
// output: now = uint32[96]
// grid: 96
// threadgroup: 96
// expect: old = x + (np.arange(96) + 5).astype(np.uint32)
// expect: now = np.where(np.arange(96) % 2 == 0, np.arange(96), x + (np.arange(96) + 5).astype(np.uint32))
threadgroup atomic_uint t[96];
uint l = thread_position_in_threadgroup.x;
atomic_store_explicit(&t[l], l, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
uint before = atomic_fetch_add_explicit(&t[l], x[l], memory_order_relaxed);
uint between = atomic_fetch_add_explicit(&t[l], 5u, memory_order_relaxed) - before;
old[l] = atomic_exchange_explicit(&t[l], before, memory_order_relaxed);
uint expected = before;
uint wanted = before + between + 5u;
if (l % 2 == 1) while (!atomic_compare_exchange_weak_explicit(&t[l], &expected, wanted, memory_order_relaxed, memory_order_relaxed));
now[l] = atomic_load_explicit(&t[l], memory_order_relaxed);
