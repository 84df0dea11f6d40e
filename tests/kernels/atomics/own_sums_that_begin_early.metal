// Runs that begin before a worker's own array and end behind it, with lanes inside only.
// input: start = int32[16] integers(-31, 90)
// output: counts = float32[90]
// output: whole = int32[90]
// grid: 64000
// threadgroup: 32
// atomic_outputs: true
// init: 0
// where: place = start[:, None] + np.arange(32)
// where: total = np.bincount(place[(place >= 0) & (place < 90)], minlength=90) * 125
// expect: counts = total
// expect: whole = total
int i = start[threadgroup_position_in_grid.x % 16] + int(thread_index_in_simdgroup);
if (i >= 0 && i < 90) {
    atomic_fetch_add_explicit(&counts[i], 1.0f, memory_order_relaxed);
    atomic_fetch_add_explicit(&whole[i], 1, memory_order_relaxed);
}
