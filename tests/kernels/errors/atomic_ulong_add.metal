// ulong has only atomic_min_explicit and atomic_max_explicit.
// output: y = uint64[1]
// grid: 4
// atomic_outputs: true
// error: Metal has atomic_min_explicit and atomic_max_explicit for ulong, and nothing else at 6:1
atomic_fetch_add_explicit(y, 1ul, memory_order_relaxed);
