// Atomic functions need atomics.
// output: y = int32[4]
// grid: 4
// error: no matching function[^\0]*hint: an atomic function needs a pointer to atomic at 5:1
atomic_fetch_add_explicit(&y[0], 1, memory_order_relaxed);
