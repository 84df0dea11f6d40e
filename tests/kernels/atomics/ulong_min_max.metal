// 64-bit minimum and maximum, which give nothing back: key and index in one word.
// input: x = float32[150] uniform(0, 1)
// output: y = uint64[2]
// grid: 150
// threadgroup: 64
// init: 0
// atomic_outputs: true
// where:
//     words = x.view(np.uint32).astype(np.uint64) << np.uint64(32) | np.arange(150, dtype=np.uint64)
// expect: y = [0, int(words.max())]
uint i = thread_position_in_grid.x;
ulong word = ulong(as_type<uint>(x[i])) << 32 | i;
atomic_max_explicit(&y[1], word, memory_order_relaxed);
atomic_min_explicit(&y[0], word, memory_order_relaxed);
