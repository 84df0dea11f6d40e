// Matrices keep what was loaded, whatever becomes of the memory that they came from.
// dtypes: float32 float16
// input: a = T[16,8] integers(-4, 5)
// input: b = T[16,8] integers(-4, 5)
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = a[:8] @ b[:8] + a[8:] @ b[8:]
threadgroup T left[64], right[64];
const uint lane = thread_index_in_simdgroup;
simdgroup_matrix<T, 8, 8> p[2], q[2];
simdgroup_float8x8 sum(0);
for (uint i = lane; i < 64; i += 32) { left[i] = a[i]; right[i] = b[i]; }
simdgroup_barrier(mem_flags::mem_threadgroup);
simdgroup_load(p[0], left);
simdgroup_load(q[0], right);
simdgroup_barrier(mem_flags::mem_threadgroup);
left[lane] = a[64 + lane];
right[lane] = b[64 + lane];
left[32 + lane] = a[96 + lane];
right[32 + lane] = b[96 + lane];
simdgroup_barrier(mem_flags::mem_threadgroup);
simdgroup_load(p[1], left);
simdgroup_load(q[1], right);
simdgroup_multiply_accumulate(sum, p[0], q[0], sum);
simdgroup_multiply_accumulate(sum, p[1], q[1], sum);
simdgroup_barrier(mem_flags::mem_threadgroup);
left[lane] = 99;
simdgroup_store(sum, y);
