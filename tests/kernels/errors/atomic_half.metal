// Atomics exist for 32-bit numbers, bool and ulong.
// output: y = float16[4]
// grid: 4
// atomic_outputs: true
// error: Metal has atomic<T> for int, uint, bool, float and ulong only
atomic_fetch_add_explicit(&y[0], half(1), memory_order_relaxed);
