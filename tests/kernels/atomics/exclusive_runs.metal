// Sums of runs at any place, over the ends of pages, from many threads; with missing lanes, too.
// input: start = int32[4000] integers(0, 5000)
// input: x = float32[4000, 32] integers(-8, 8)
// output: sums = float32[5040]
// grid: 32 4000
// threadgroup: 32 4
// atomic_outputs: true
// init: 0
// where: place = start[:, None] + np.arange(32)
// where: total = np.zeros(5040)
// where: np.add.at(total, place[:, 0:], x * (np.arange(32) % 3 > 0))
// where: np.add.at(total, start, x[:, 0] + 32)
// expect: sums = total
uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y;
int at = start[row];
for (int iteration = 0; iteration < 1; ++iteration) {
    float value = x[row * 32 + lane];
    if (lane % 3 > 0) atomic_fetch_add_explicit(&sums[at + lane], value, memory_order_relaxed);
}
atomic_fetch_add_explicit(&sums[at], 1.0f, memory_order_relaxed);
if (lane == 0) atomic_fetch_add_explicit(&sums[at], x[row * 32], memory_order_relaxed);
