// The compiler cannot tell where lanes add: to one element, to neighbours, or anywhere.
// input: x = float32[4096] integers(-9, 9)
// input: to = int32[4096] np.where(np.arange(4096) % 96 < 32, 7, np.where(np.arange(4096) % 96 < 64, np.arange(4096), np.arange(4096) * 37 % 4096))
// output: y = float32[4100]
// grid: 4096
// threadgroup: 256
// init: 0
// atomic_outputs: true
// where: a = np.zeros(4100, np.float32); np.add.at(a, to, x)
// expect: y = a
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[to[i]], x[i], memory_order_relaxed);
