// The result of an atomic gives each thread a slot of its own.
// output: taken = int32[150]
// output: counter = int32[1]
// grid: 150
// threadgroup: 64
// init: 0
// expect: taken = np.ones(150, int)
// expect: counter = 150
int slot = atomic_fetch_add_explicit((device atomic_int*)counter, 1, memory_order_relaxed);
if (slot < 150) taken[slot] += 1;
