// The same with a barrier that orders nothing.
// input: x = float32[128] normal
// output: y = float32[128]
// output: z = float32[128]
// grid: 128
// threadgroup: 64
// expect: y = x * 2
// expect: z = np.roll((x * 2).reshape(2, 64), -1, axis=1).reshape(-1)
uint l = thread_index_in_threadgroup;
uint i = thread_position_in_grid.x;
y[i] = x[i] * 2;  // finds: race-device (either)
threadgroup_barrier(mem_flags::mem_none);
uint next = i - l + (l + 1) % 64;
z[i] = y[next];  // finds: race-device (either)
