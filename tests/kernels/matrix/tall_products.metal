// Left matrices from anywhere in memory, times the same right ones: they may go through one loop.
// dtypes: float32 float16
// input: a = T[24,16] integers(-3, 4)
// input: b = T[16,32] integers(-3, 4)
// input: c = float32[24,32] integers(-3, 4)
// output: y = float32[24,32]
// grid: 32
// threadgroup: 32
// expect: y = np.concatenate([a[16:], a[:8], a[8:16]]) @ b + c
simdgroup_float8x8 sums[3][4];
simdgroup_matrix<T, 8, 8> left, right;
for (int i = 0; i < 3; i++) {
  for (int j = 0; j < 4; j++) simdgroup_load(sums[i][j], c, 32, ulong2(8 * j, 8 * i));
}
for (int k = 0; k < 16; k += 8) {
  for (int i = 0; i < 3; i++) {
    simdgroup_load(left, a, 16, ulong2(k, 8 * ((i + 2) % 3)));
    for (int j = 0; j < 4; j++) {
      simdgroup_load(right, b, 32, ulong2(8 * j, k));
      simdgroup_multiply_accumulate(sums[i][j], left, right, sums[i][j]);
    }
  }
}
for (int i = 0; i < 3; i++) {
  for (int j = 0; j < 4; j++) simdgroup_store(sums[i][j], y, 32, ulong2(8 * j, 8 * i));
}
