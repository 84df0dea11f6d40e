// A thread that reads what it has added to sees its own addition.
// input: x = float32[64, 2] integers(1, 50)
// output: y = float32[64, 2]
// output: z = float32[64]
// grid: 64
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = x
// expect: z = x[:, 0]
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[2 * i], x[2 * i], memory_order_relaxed);
atomic_store_explicit(&z[i], ((device float*)y)[2 * i], memory_order_relaxed);
atomic_fetch_add_explicit(&y[2 * i + 1], x[2 * i + 1], memory_order_relaxed);
