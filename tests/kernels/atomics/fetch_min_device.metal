// The smallest of each place.
// dtypes: int32 uint32
// input: x = T[300] integers(5, 2000)
// output: y = T[4]
// grid: 300
// threadgroup: 64
// init: 1000
// atomic_outputs: true
// expect: y = np.array([min(1000, x[k::4].min()) for k in range(4)])
uint i = thread_position_in_grid.x;
atomic_fetch_min_explicit(&y[i % 4], x[i], memory_order_relaxed);
