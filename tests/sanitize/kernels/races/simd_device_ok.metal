// Lanes of a SIMD-group exchange values through device memory.
// input: x = float32[32] normal
// output: y = float32[32]
// output: z = float32[32]
// grid: 32
// threadgroup: 32
// expect: y = x
// expect: z = np.roll(x, 1)
uint l = thread_index_in_threadgroup;
y[l] = x[l];
simdgroup_barrier(mem_flags::mem_device);
z[l] = y[(l + 31) % 32];
