// A flag in device memory that many threads raise.
// input: x = int32[100] arange
// output: y = bool[4]
// grid: 100
// threadgroup: 32
// init: 0
// atomic_outputs: true
// expect: y = [True, False, False, True]
int v = x[thread_position_in_grid.x];
if (v % 10 == 7) atomic_store_explicit(&y[0], true, memory_order_relaxed);
if (v > 100) atomic_store_explicit(&y[1], true, memory_order_relaxed);
if (v < 5) atomic_exchange_explicit(&y[2], false, memory_order_relaxed);
if (v == 99) atomic_store_explicit(&y[3], true, memory_order_relaxed);
