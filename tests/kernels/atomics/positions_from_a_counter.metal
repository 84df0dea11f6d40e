// Compaction: each thread that keeps its value takes a place. Who gets which is open, but each place
// is taken once, and the values are all there.
// input: x = int32[1000] integers(0, 1000)
// output: count = int32[1]
// output: taken = int32[1000]
// output: kept = int32[1000]
// output: times = int32[1001]
// grid: 1000
// threadgroup: 1000
// init: 0
// atomic_outputs: true
// expect: count = [np.sum(x % 3 == 0)]
// expect: taken = np.arange(1000) < np.sum(x % 3 == 0)
// expect: times = np.bincount(x[x % 3 == 0], minlength=1001)
// dtypes: int32
uint i = thread_position_in_grid.x;
if (x[i] % 3 == 0) {
    int place = atomic_fetch_add_explicit(&count[0], 1, memory_order_relaxed);
    atomic_store_explicit(&kept[place], x[i], memory_order_relaxed);
    atomic_fetch_add_explicit(&taken[place], 1, memory_order_relaxed);
    int value = atomic_load_explicit(&kept[place], memory_order_relaxed);
    atomic_fetch_add_explicit(&times[value], 1, memory_order_relaxed);
}
