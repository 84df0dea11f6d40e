// Five and seventeen matrices one above the other times a column of others, as blocked code has it.
// dtypes: float32 float16 bfloat16
// input: a = T[176,32] integers(-3, 4)
// input: b = T[64,8] integers(-3, 4)
// output: y = float32[352,8]
// grid: 32
// threadgroup: 32
// where:
//     first = np.concatenate([a[:40] @ b[:32], a[40:] @ b[:32]])
//     second = np.concatenate([a[:40] @ b[32:], a[40:] @ b[32:]])
// expect: y = np.concatenate([first, first + 2 * second])
threadgroup T right[32 * 8];
simdgroup_float8x8 few[5], many[17];
#pragma unroll
for (uint i = 0; i < 5; ++i) few[i] = simdgroup_float8x8(0);
#pragma unroll
for (uint i = 0; i < 17; ++i) many[i] = simdgroup_float8x8(0);
for (uint k = 0; k < 3; ++k) {
  for (uint i = thread_index_in_simdgroup; i < 256; i += 32) right[i] = b[(k > 0) * 256 + i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  #pragma unroll
  for (uint kk = 0; kk < 32; kk += 8) {
    simdgroup_matrix<T, 8, 8> p, q;
    simdgroup_load(q, right + kk * 8, 8);
    #pragma unroll
    for (uint i = 0; i < 5; ++i) {
      simdgroup_load(p, a + 8 * i * 32 + kk, 32);
      simdgroup_multiply_accumulate(few[i], p, q, few[i]);
    }
    #pragma unroll
    for (uint i = 0; i < 17; ++i) {
      simdgroup_load(p, a + (40 + 8 * i) * 32 + kk, 32);
      simdgroup_multiply_accumulate(many[i], p, q, many[i]);
    }
  }
  if (k == 0) {
    for (uint i = 0; i < 5; ++i) simdgroup_store(few[i], y, 8, ulong2(0, 8 * i));
    for (uint i = 0; i < 17; ++i) simdgroup_store(many[i], y, 8, ulong2(0, 40 + 8 * i));
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
#pragma unroll
for (uint i = 0; i < 5; ++i) simdgroup_store(few[i], y, 8, ulong2(0, 176 + 8 * i));
#pragma unroll
for (uint i = 0; i < 17; ++i) simdgroup_store(many[i], y, 8, ulong2(0, 216 + 8 * i));
