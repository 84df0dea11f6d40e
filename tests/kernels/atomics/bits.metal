// and, or, xor.
// input: x = uint32[200] random
// output: y = uint32[3]
// grid: 200
// threadgroup: 64
// init: 1
// atomic_outputs: true
// expect: y = [1 & np.bitwise_and.reduce(x | 3), np.bitwise_or.reduce(x & 0xff) | 1, np.bitwise_xor.reduce(x) ^ 1]
uint v = x[thread_position_in_grid.x];
atomic_fetch_and_explicit(&y[0], v | 3u, memory_order_relaxed);
atomic_fetch_or_explicit(&y[1], v & 0xffu, memory_order_relaxed);
atomic_fetch_xor_explicit(&y[2], v, memory_order_relaxed);
