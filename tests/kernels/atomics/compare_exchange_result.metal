// On failure the expected value becomes the one that was seen, and memory stays.
// output: y = int32[5]
// grid: 1
// expect: y = [0, 5, 1, 5, 9]
threadgroup atomic_int cell;
atomic_store_explicit(&cell, 5, memory_order_relaxed);
int expected = 4;
y[0] = atomic_compare_exchange_weak_explicit(&cell, &expected, 9, memory_order_relaxed, memory_order_relaxed);
y[1] = expected;
bool done = false;
while (!done) done = atomic_compare_exchange_weak_explicit(&cell, &expected, 9, memory_order_relaxed, memory_order_relaxed);
y[2] = done;
y[3] = expected;
y[4] = atomic_load_explicit(&cell, memory_order_relaxed);
