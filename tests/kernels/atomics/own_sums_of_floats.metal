// A worker's own sums of floats: four to each lane, a run, of some lanes, anywhere, to one place.
// input: x = uint8[60000] integers(0, 250)
// output: rows = float32[512]
// output: bins = float32[256]
// output: runs = float32[128]
// grid: 60000
// threadgroup: 128
// atomic_outputs: true
// init: 1
// where: n = np.arange(60000)
// where: four = np.stack([np.bincount(lid, minlength=128) * (c + 1) for c in range(4)], 1).ravel()
// where: total = np.bincount(x[n % 3 > 0], weights=n[n % 3 > 0] % 5, minlength=256)
// where: total[9] += 60000
// expect: rows = 1 + four
// expect: bins = 1 + total
// expect: runs = 1 + np.bincount(lid, minlength=128) * 0.5
uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
for (uint c = 0; c < 4; ++c) {
    atomic_fetch_add_explicit(&rows[t % 128 * 4 + c], float(c + 1), memory_order_relaxed);
}
if (i % 3 > 0) atomic_fetch_add_explicit(&bins[x[i]], float(i % 5), memory_order_relaxed);
atomic_fetch_add_explicit(&bins[9], 1.0f, memory_order_relaxed);
atomic_fetch_add_explicit(&runs[t % 128], 0.5f, memory_order_relaxed);
