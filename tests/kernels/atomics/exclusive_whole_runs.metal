// Sums of whole runs at few places, some of them over the end of a page, from many threads.
// input: start = int32[60000] integers(0, 4000)
// input: x = float32[60000, 32] integers(-8, 8)
// output: sums = float32[4032]
// grid: 32 60000
// threadgroup: 32 4
// atomic_outputs: true
// init: 0
// where: total = np.zeros(4032)
// where: np.add.at(total, start[:, None] + np.arange(32), x)
// expect: sums = total
uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y;
atomic_fetch_add_explicit(&sums[start[row] + lane], x[row * 32 + lane], memory_order_relaxed);
