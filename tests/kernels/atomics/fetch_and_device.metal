// The bits that all have.
// dtypes: int32 uint32
// input: x = T[300] np.where(np.arange(300) % 7 < 6, 0x3f7, 0x1ef)
// output: y = T[4]
// grid: 300
// threadgroup: 64
// init: 127
// atomic_outputs: true
// expect: y = np.array([127 & np.bitwise_and.reduce(x[k::4]) for k in range(4)])
uint i = thread_position_in_grid.x;
atomic_fetch_and_explicit(&y[i % 4], x[i], memory_order_relaxed);
