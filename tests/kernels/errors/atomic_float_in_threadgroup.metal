// Floats are atomic in device memory only.
// output: y = float32[4]
// grid: 4
// error: atomic functions take floats in device memory only at 5:26
threadgroup atomic_float sum;
atomic_store_explicit(&sum, 0.0f, memory_order_relaxed);
