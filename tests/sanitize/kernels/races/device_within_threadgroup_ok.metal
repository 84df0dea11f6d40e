// Neighbours read what was written to device memory; the barrier orders the other kind of memory.
// input: x = float32[128] normal
// output: y = float32[128]
// output: z = float32[128]
// grid: 128
// threadgroup: 64
// expect: y = x * 2
// expect: z = np.roll((x * 2).reshape(2, 64), -1, axis=1).reshape(-1)
uint l = thread_index_in_threadgroup;
uint i = thread_position_in_grid.x;
y[i] = x[i] * 2;
threadgroup_barrier(mem_flags::mem_device);
uint next = i - l + (l + 1) % 64;
z[i] = y[next];
