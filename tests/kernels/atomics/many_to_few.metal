// Many threads add to small arrays, whose elements are told by narrow indices, masks and clamps.
// input: x = uint16[20001] integers(0, 299)
// input: d = int32[20001] integers(-50, 50)
// output: a = int32[300]
// output: b = uint32[16]
// output: c = uint32[40]
// init: 0
// atomic_outputs: true
// grid: 20001
// threadgroup: 96
// expect: a = np.bincount(x, d, 300).astype(int)
// expect: b = np.bincount(x[x % 3 == 0] & 15, minlength=16)
// expect: c = np.bincount(np.minimum(x, 39), minlength=40)
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&a[x[i]], d[i], memory_order_relaxed);
uint v = x[i];
if (v % 3 == 0) atomic_fetch_add_explicit(&b[v & 15], 1, memory_order_relaxed);
atomic_fetch_add_explicit(&c[min(v, 39u)], 1, memory_order_relaxed);
