// Compaction: each thread that keeps its value takes a place. Sorted, the result is known.
// input: x = int32[1000] integers(0, 1000)
// output: count = int32[1]
// output: kept = int32[1000]
// grid: 1000
// threadgroup: 1000
// init: 0
// atomic_outputs: true
// expect: count = [np.sum(x % 3 == 0)]
// expect: kept = np.concatenate([x[x % 3 == 0], np.zeros(1000 - np.sum(x % 3 == 0), int)])
// dtypes: int32
uint i = thread_position_in_grid.x;
if (x[i] % 3 == 0) {
    int place = atomic_fetch_add_explicit(&count[0], 1, memory_order_relaxed);
    atomic_store_explicit(&kept[place], x[i], memory_order_relaxed);
}
