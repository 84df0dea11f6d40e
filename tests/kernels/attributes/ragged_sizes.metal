// threads_per_threadgroup is the size of this very group; the dispatched size stays.
// output: y = int32[23]
// output: z = int32[23]
// grid: 23
// threadgroup: 10
// expect: y = np.where(np.arange(23) < 20, 10, 3)
// expect: z = np.arange(23) // 10 * 1000 + np.arange(23) % 10 * 10 + 3
uint t = thread_position_in_grid.x;
y[t] = threads_per_threadgroup.x;
z[t] = threadgroup_position_in_grid.x * 1000 + thread_position_in_threadgroup.x * dispatch_threads_per_threadgroup.x +
       threadgroups_per_grid.x;
