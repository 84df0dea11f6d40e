// float has no atomic maximum.
// output: y = float32[4]
// grid: 4
// atomic_outputs: true
// error: no matching function for call to 'atomic_fetch_max_explicit' at 6:1
atomic_fetch_max_explicit(&y[0], 1.0f, memory_order_relaxed);
