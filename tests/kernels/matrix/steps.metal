// Four products that add to the same sums, of which the second's are looked at, too.
// dtypes: float32 float16
// input: a = T[16,32] integers(-4, 5)
// input: b = T[32,16] integers(-4, 5)
// output: y = float32[16,16]
// output: z = float32[16,16]
// grid: 32
// threadgroup: 32
// expect: y = a @ b
// expect: z = a[:, :16] @ b[:16]
threadgroup T left[16 * 36], right[32 * 20];
for (uint i = thread_index_in_simdgroup; i < 512; i += 32) {
  left[i / 32 * 36 + i % 32] = a[i];
  right[i / 16 * 20 + i % 16] = b[i];
}
simdgroup_barrier(mem_flags::mem_threadgroup);
simdgroup_float8x8 sums[4];
for (uint i = 0; i < 4; ++i) sums[i] = simdgroup_float8x8(0);
#pragma unroll
for (uint k = 0; k < 32; k += 8) {
  simdgroup_matrix<T, 8, 8> p[2], q[2];
  for (uint i = 0; i < 2; ++i) {
    simdgroup_load(p[i], left + 8 * i * 36 + k, 36);
    simdgroup_load(q[i], right + k * 20 + 8 * i, 20);
  }
  for (uint i = 0; i < 4; ++i) {
    simdgroup_multiply_accumulate(sums[i], p[i / 2], q[i % 2], sums[i]);
  }
  if (k == 8) {
    for (uint i = 0; i < 4; ++i) simdgroup_store(sums[i], z, 16, ulong2(i % 2 * 8, i / 2 * 8));
  }
}
for (uint i = 0; i < 4; ++i) simdgroup_store(sums[i], y, 16, ulong2(i % 2 * 8, i / 2 * 8));
