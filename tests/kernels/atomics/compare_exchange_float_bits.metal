// Compare-exchange of floats compares bits: -0.0 is not 0.0, and a NaN is itself.
// output: y = bool[3]
// output: z = float32[3]
// init: 0
// grid: 1
// expect: y = [False, True, True]
// expect: z = [0, 3, 4]
device atomic_float* cells = (device atomic_float*)z;
float expected = -0.0f;
y[0] = atomic_compare_exchange_weak_explicit(&cells[0], &expected, 1.0f, memory_order_relaxed, memory_order_relaxed);
expected = 0.0f;
bool done = false;
for (int iteration = 0; iteration < 100 && !done; ++iteration)
  done = atomic_compare_exchange_weak_explicit(&cells[1], &expected, 3.0f, memory_order_relaxed, memory_order_relaxed);
y[1] = done;
atomic_store_explicit(&cells[2], NAN, memory_order_relaxed);
expected = atomic_load_explicit(&cells[2], memory_order_relaxed);
done = false;
for (int iteration = 0; iteration < 100 && !done; ++iteration)
  done = atomic_compare_exchange_weak_explicit(&cells[2], &expected, 4.0f, memory_order_relaxed, memory_order_relaxed);
y[2] = done;
