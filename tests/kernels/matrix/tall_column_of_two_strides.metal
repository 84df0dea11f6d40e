// Matrices one above the other whose rows are not equally far apart, times the same column.
// dtypes: float32 float16
// input: a = T[24,16] integers(-3, 4)
// input: b = T[24,24] integers(-3, 4)
// input: c = T[16,8] integers(-3, 4)
// output: y = float32[48,8]
// grid: 32
// threadgroup: 32
// expect: y = np.concatenate([a, b[:, 8:]]) @ c
simdgroup_float8x8 sums[6];
#pragma unroll
for (uint i = 0; i < 6; ++i) sums[i] = simdgroup_float8x8(0);
#pragma unroll
for (uint k = 0; k < 16; k += 8) {
  simdgroup_matrix<T, 8, 8> p, q;
  simdgroup_load(q, c + k * 8, 8);
  #pragma unroll
  for (uint i = 0; i < 6; ++i) {
    if (i < 3) simdgroup_load(p, a + 8 * i * 16 + k, 16);
    else simdgroup_load(p, b + 8 * (i - 3) * 24 + 8 + k, 24);
    simdgroup_multiply_accumulate(sums[i], p, q, sums[i]);
  }
}
#pragma unroll
for (uint i = 0; i < 6; ++i) simdgroup_store(sums[i], y, 8, ulong2(0, 8 * i));
