// Extremes of all threads, under a branch.
// input: x = int32[300] random
// output: least = int32[1]
// output: most = int32[1]
// grid: 300
// threadgroup: 50
// init: 0
// where:
//     odd = x[x % 2 != 0]
// expect: least = np.minimum(odd.min(), 0)
// expect: most = np.maximum(odd.max(), 0)
int v = x[thread_position_in_grid.x];
if (v % 2 != 0) {
  atomic_fetch_min_explicit((device atomic_int*)least, v, memory_order_relaxed);
  atomic_fetch_max_explicit((device atomic_int*)most, v, memory_order_relaxed);
}
