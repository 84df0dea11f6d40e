// atomic_float: add, sub, exchange, store, load and compare-exchange in device memory.
// input: x = float32[128] integers(-50, 50)
// output: y = float32[4]
// grid: 128
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = [x.sum(), -x.sum(), 2.5, x.max()]
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[0], x[i], memory_order_relaxed);
atomic_fetch_sub_explicit(&y[1], x[i], memory_order_relaxed);
atomic_exchange_explicit(&y[2], 2.5f, memory_order_relaxed);
float seen = atomic_load_explicit(&y[3], memory_order_relaxed);
while (x[i] > seen && !atomic_compare_exchange_weak_explicit(&y[3], &seen, x[i], memory_order_relaxed, memory_order_relaxed)) {
}
