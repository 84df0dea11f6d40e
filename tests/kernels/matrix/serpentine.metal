// The columns of every other row of matrices backwards, of one in no order, and of all rows where k is 8
// backwards first.
// dtypes: float32 float16
// input: a = T[24,32] integers(-3, 4)
// input: b = T[32,32] integers(-3, 4)
// input: c = float32[24,32] integers(-3, 4)
// output: y = float32[24,32]
// grid: 32
// threadgroup: 32
// expect: y = a @ b + c
simdgroup_float8x8 sums[3][4];
simdgroup_matrix<T, 8, 8> left, right[4];
for (int i = 0; i < 3; i++) {
  for (int j = 0; j < 4; j++) simdgroup_load(sums[i][j], c, 32, ulong2(8 * j, 8 * i));
}
for (int k = 0; k < 32; k += 8) {
  for (int j = 0; j < 4; j++) simdgroup_load(right[j], b, 32, ulong2(8 * j, k));
  for (int i = 0; i < 3; i++) {
    simdgroup_load(left, a, 32, ulong2(k, 8 * i));
    for (int n = 0; n < 4; n++) {
      int j = i == 2 ? (3 * n + 2) % 4 : (i == 1) != (k == 8) ? 3 - n : n;
      simdgroup_multiply_accumulate(sums[i][j], left, right[j], sums[i][j]);
    }
  }
}
for (int i = 0; i < 3; i++) {
  for (int j = 0; j < 4; j++) simdgroup_store(sums[i][j], y, 32, ulong2(8 * j, 8 * i));
}
