// Neighbours meet in device memory, behind a barrier for it.
// input: x = int32[64] random
// output: y = int32[64]
// output: z = int32[64]
// grid: 64
// threadgroup: 64
// expect: y = x
// expect: z = np.roll(x, -9)
uint i = thread_position_in_grid.x;
y[i] = x[i];
threadgroup_barrier(mem_flags::mem_device);
z[i] = y[(i + 9) % 64];
