// 1024 threads: 32 SIMD-groups wait for each other.
// input: x = int32[1024] integers
// output: y = int32[1024]
// grid: 32 32
// threadgroup: 32 32
// expect: y = np.roll(x, -37)
threadgroup int slots[1024];
uint lid = thread_index_in_threadgroup;
slots[lid] = x[lid];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[lid] = slots[(lid + 37) % 1024];
