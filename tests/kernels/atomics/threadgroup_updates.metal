// In threadgroup memory: every operation, to one element, to one a lane, and to several.
// input: x = int32[256] integers(0, 1000)
// output: y = int32[40]
// grid: 256
// threadgroup: 256
// where:
//     b = [x[np.arange(256) % 8 == k] for k in range(8)]
//     low = [np.min(v) for v in b]; high = [np.max(v) for v in b]; total = [np.sum(v) for v in b]
//     bits = [np.bitwise_xor.reduce(v) for v in b]; one = [x.sum(), -x.sum(), x.min(), x.max(), np.bitwise_or.reduce(x), np.bitwise_and.reduce(x), 0, 0]
// expect: y = np.concatenate([low, high, total, bits, one])
threadgroup atomic_int t[40];
uint l = thread_position_in_threadgroup.x, k = l % 8;
if (l < 40) atomic_store_explicit(&t[l], l < 8 || l == 34 || l == 37 ? -1u >> 1 : 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_min_explicit(&t[k], x[l], memory_order_relaxed);
atomic_fetch_max_explicit(&t[8 + k], x[l], memory_order_relaxed);
atomic_fetch_add_explicit(&t[16 + k], x[l], memory_order_relaxed);
atomic_fetch_xor_explicit(&t[24 + k], x[l], memory_order_relaxed);
atomic_fetch_add_explicit(&t[32], x[l], memory_order_relaxed);
atomic_fetch_sub_explicit(&t[33], x[l], memory_order_relaxed);
atomic_fetch_min_explicit(&t[34], x[l], memory_order_relaxed);
atomic_fetch_max_explicit(&t[35], x[l], memory_order_relaxed);
atomic_fetch_or_explicit(&t[36], x[l], memory_order_relaxed);
atomic_fetch_and_explicit(&t[37], x[l], memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (l < 40) y[l] = atomic_load_explicit(&t[l], memory_order_relaxed);
