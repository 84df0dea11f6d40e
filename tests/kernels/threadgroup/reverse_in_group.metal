// Each thread reads the slot of its mirror image.
// input: x = int32[150] random
// output: y = int32[150]
// where:
//     parts = [x[i:i + 48][::-1] for i in range(0, 150, 48)]
// grid: 150
// threadgroup: 48
// expect: y = np.concatenate(parts)
threadgroup int slots[48];
uint lid = thread_position_in_threadgroup.x;
uint i = thread_position_in_grid.x;
slots[lid] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = slots[threads_per_threadgroup.x - 1 - lid];
