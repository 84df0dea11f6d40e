// atomic_float; the values are exact in any order.
// input: x = float32[300] integers
// output: y = float32[3]
// grid: 300
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = [x[k::3].sum() for k in range(3)]
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[i % 3], x[i], memory_order_relaxed);
