// Many threads, few bins.
// input: x = int32[1000] integers(0, 9)
// output: bins = int32[10]
// grid: 1000
// threadgroup: 128
// init: 0
// atomic_outputs: true
// expect: bins = np.bincount(x, minlength=10)
atomic_fetch_add_explicit(&bins[x[thread_position_in_grid.x]], 1, memory_order_relaxed);
