// A threadgroup larger than the grid is clamped to it.
// output: y = int32[6]
// grid: 3 2 1
// threadgroup: 64 8 1
// expect: y = np.full(6, 3213)
uint at = thread_position_in_grid.y * 3 + thread_position_in_grid.x;
y[at] = threads_per_threadgroup.x * 1000 + threads_per_threadgroup.y * 100 + threads_per_grid.z * 10 + threads_per_grid.x;
