// What a tile held before it was overwritten, used in several stores of each SIMD-group.
// input: x = float32[256] normal
// input: z = float32[4, 256] normal
// output: y = float32[4, 256]
// grid: 256
// threadgroup: 256
// expect: y = z * np.tile(x[:32], 8)
threadgroup float tile[256];
uint t = thread_index_in_threadgroup, lane = thread_index_in_simdgroup;
tile[t] = x[t];
threadgroup_barrier(mem_flags::mem_threadgroup);
float old = tile[lane];
threadgroup_barrier(mem_flags::mem_threadgroup);
tile[t] = 7;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[t] = z[t] * old;
y[256 + t] = z[256 + t] * old;
y[512 + t] = z[512 + t] * old;
y[768 + t] = z[768 + t] * old;
if (tile[t ^ 32] != 7) y[t] = 0;
