// Neighbours under one lock, or two at the end of a page, with loads of another array in between.
// input: start = int32[3000] integers(0, 5000)
// input: x = float32[3000, 32] integers(-8, 8)
// input: y = float32[5128] integers(-8, 8)
// output: sums = float32[5128]
// output: others = float32[5128]
// output: seen = float32[3000, 32]
// grid: 32 3000
// threadgroup: 32 4
// atomic_outputs: true
// init: 0
// where: place = start[:, None] + np.arange(32)
// where: total, rest, some = np.zeros(5128), np.zeros(5128), np.arange(32) % 5 > 0
// where: np.add.at(total, place, x)
// where: np.add.at(total, place + 32, 2 * x)
// where: np.add.at(total, place + 64, 3 * x)
// where: np.add.at(total, place[:, some] + 7, 4 * x[:, some])
// where: np.add.at(total, place[:, some] + 96, 5 * x[:, some])
// where: np.add.at(rest, place + 1, x)
// expect: sums = total
// expect: others = rest
// expect: seen = y[place] + y[place + 32]
uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y;
int at = start[row] + lane;
float value = x[row * 32 + lane];
atomic_fetch_add_explicit(&sums[at], value, memory_order_relaxed);
float before = y[at];
atomic_fetch_add_explicit(&sums[at + 32], 2 * value, memory_order_relaxed);
atomic_fetch_add_explicit(&others[at + 1], value, memory_order_relaxed);
float behind = y[at + 32];
atomic_fetch_add_explicit(&sums[at + 64], 3 * value, memory_order_relaxed);
if (lane % 5 > 0) {
    atomic_fetch_add_explicit(&sums[at + 7], 4 * value, memory_order_relaxed);
    atomic_fetch_add_explicit(&sums[at + 96], 5 * value, memory_order_relaxed);
}
atomic_store_explicit(&seen[row * 32 + lane], before + behind, memory_order_relaxed);
