// Lanes of one SIMD-group update by different operations.
// input: x = int32[128] integers(0, 99)
// output: y = int32[3]
// grid: 128
// threadgroup: 64
// init: 0
// atomic_outputs: true
// where:
//     k = tid % 3
// expect: y = [x[k == 0].sum(), x[k == 1].max(), -x[k == 2].sum()]
uint i = thread_position_in_grid.x;
if (i % 3 == 0) atomic_fetch_add_explicit(&y[0], x[i], memory_order_relaxed);
else if (i % 3 == 1) atomic_fetch_max_explicit(&y[1], x[i], memory_order_relaxed);
else atomic_fetch_sub_explicit(&y[2], x[i], memory_order_relaxed);
