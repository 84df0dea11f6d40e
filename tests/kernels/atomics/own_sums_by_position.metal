// Where a worker keeps sums of its own, the index is a sum, a product or a shift of positions.
// output: y = int32[2048]
// output: z = int32[64]
// output: u = int32[256]
// grid: 20000
// threadgroup: 96
// init: 0
// atomic_outputs: true
// expect: y = np.bincount(lid * 3 + lane + 1, weights=group + 1, minlength=2048).astype(int)
// expect: z = np.bincount(lane * 2 | 1, minlength=64)
// expect: u = np.bincount((simdgroup << 3) ^ (tid % 8), weights=tid, minlength=256).astype(int)
uint t = thread_position_in_threadgroup.x, lane = thread_index_in_simdgroup;
uint g = threadgroup_position_in_grid.x, i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[t * 3 + lane + 1], int(g + 1), memory_order_relaxed);
atomic_fetch_add_explicit(&z[lane * 2 | 1], 1, memory_order_relaxed);
atomic_fetch_add_explicit(&u[(simdgroup_index_in_threadgroup << 3) ^ (i % 8)], int(i), memory_order_relaxed);
