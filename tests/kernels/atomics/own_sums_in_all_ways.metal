// A worker's own sums: of all lanes, of some, to one place; the array is shorter than its index allows.
// input: x = uint8[200000] integers(0, 99)
// output: counts = uint32[100]
// grid: 200000
// threadgroup: 256
// atomic_outputs: true
// init: 0
// where: total = np.bincount(x, minlength=100) + np.bincount(x[np.arange(200000) % 3 > 0], minlength=100) * 5
// where: total[7] += 2 * 200000
// expect: counts = total
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&counts[x[i]], 1, memory_order_relaxed);
if (i % 3 > 0) atomic_fetch_add_explicit(&counts[x[i]], 5, memory_order_relaxed);
atomic_fetch_add_explicit(&counts[7], 2, memory_order_relaxed);
