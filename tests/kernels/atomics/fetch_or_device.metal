// The bits that any has.
// dtypes: int32 uint32
// input: x = T[300] 1 << (np.arange(300) % 23)
// output: y = T[4]
// grid: 300
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = np.array([np.bitwise_or.reduce(x[k::4]) for k in range(4)])
uint i = thread_position_in_grid.x;
atomic_fetch_or_explicit(&y[i % 4], x[i], memory_order_relaxed);
