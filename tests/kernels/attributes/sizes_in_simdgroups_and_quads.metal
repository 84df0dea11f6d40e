// How many SIMD-groups and quads a threadgroup has, as dispatched and as it is at the edge of the grid.
// output: y = uint32[130, 4]
// grid: 130
// threadgroup: 50
// where:
//     size = np.where(group == 2, 30, 50)
// expect: y = np.stack([np.full(130, 2), -(-size // 32), np.full(130, 13), -(-size // 4)], axis=1)
uint i = thread_position_in_grid.x;
y[4 * i] = dispatch_simdgroups_per_threadgroup;
y[4 * i + 1] = simdgroups_per_threadgroup;
y[4 * i + 2] = dispatch_quadgroups_per_threadgroup;
y[4 * i + 3] = quadgroups_per_threadgroup;
