// Barriers with each flag, and with several; a barrier of the SIMD-group.
// input: x = int32[96] integers(-99, 99)
// output: y = int32[96]
// grid: 96
// threadgroup: 48
// where:
//     r = x.reshape(2, 48)
// expect: y = r[:, ::-1] + np.roll(r, -1, axis=1)
threadgroup int a[48], b[48];
uint lid = thread_index_in_threadgroup;
a[lid] = x[thread_position_in_grid.x];
threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
b[lid] = a[(lid + 1) % 48];
simdgroup_barrier(mem_flags::mem_threadgroup);
threadgroup_barrier(mem_flags::mem_none);
y[thread_position_in_grid.x] = a[47 - lid] + b[lid];
