// Elements beside those that are added to keep every bit, a subnormal as well.
// input: x = float32[64] integers(1, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = np.where(tid % 5 == 2, x, np.where(tid % 2 == 0, np.float32(1e-40), 0))
uint i = thread_position_in_grid.x;
if (i % 2 == 0 && i % 5 != 2) ((device uint*)y)[i] = 71362u;
threadgroup_barrier(mem_flags::mem_device);
if (i % 5 == 2) atomic_fetch_add_explicit(&y[i], x[i], memory_order_relaxed);
