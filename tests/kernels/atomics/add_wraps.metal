// Sums of int wrap without a word, those of uint as well.
// dtypes: int32 uint32
// input: x = T[64] np.full(64, 0x7fffffff)
// output: y = T[1]
// grid: 64
// init: 0
// atomic_outputs: true
// expect: y = np.array([(64 * 0x7fffffff) % 2**32], np.uint32).astype(dtype)
atomic_fetch_add_explicit(y, x[thread_position_in_grid.x], memory_order_relaxed);
