// Sums into four places, from several threadgroups.
// dtypes: int32 uint32 float32
// input: x = T[300] integers(0, 100)
// output: y = T[4]
// grid: 300
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = np.array([x[k::4].sum() for k in range(4)])
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[i % 4], x[i], memory_order_relaxed);
