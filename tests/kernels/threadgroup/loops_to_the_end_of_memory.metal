// Threads share a loop over threadgroup memory, and read what others wrote.
// input: x = int32[3, 640] integers(0, 1000)
// output: y = int32[3, 128]
// grid: 128 3
// threadgroup: 128
// expect: y = np.stack([row.reshape(128, 5).sum(1) + row[::-1][:128] for row in x])
threadgroup int shared[640];
uint t = thread_position_in_threadgroup.x, size = threads_per_threadgroup.x;
const device int* from = x + threadgroup_position_in_grid.y * 640;
for (uint i = t; i < 640; i += size) shared[i] = from[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
int sum = shared[639 - t];
for (uint k = 0; k < 5; ++k) sum += shared[5 * t + k];
y[threadgroup_position_in_grid.y * 128 + t] = sum;
