// Bits of a float cannot be combined atomically.
// output: y = float32[4]
// grid: 4
// error: fetch_and at 5:1
atomic_fetch_and_explicit((device atomic_float*)y, 1.0f, memory_order_relaxed);
