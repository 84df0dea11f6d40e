// The size of a threadgroup as dispatched and as it is, and their number, in three dimensions.
// output: y = uint32[2, 3, 5, 9]
// grid: 5 3 2
// threadgroup: 3 2 4
// where:
//     here = np.stack([np.where(px < 3, 3, 2), np.where(py < 2, 2, 1), pz * 0 + 2], axis=1)
// expect: y = np.concatenate([here, np.full((30, 3), [3, 2, 2]), np.full((30, 3), [2, 2, 1])], axis=1)
uint3 at = thread_position_in_grid;
device packed_uint3* row = (device packed_uint3*)y + 3 * ((at.z * 3 + at.y) * 5 + at.x);
row[0] = threads_per_threadgroup;
row[1] = dispatch_threads_per_threadgroup;
row[2] = threadgroups_per_grid;
