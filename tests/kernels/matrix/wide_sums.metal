// Sums of a row of five matrices in two nested loops: columns that are kept together as rows.
// dtypes: float32 float16
// input: a = T[16,32] integers(-3, 4)
// input: b = T[32,40] integers(-3, 4)
// output: y = float32[16,40]
// grid: 32 2
// threadgroup: 32
// expect: y = 3 * (a @ b)
uint row = 8 * threadgroup_position_in_grid.y;
simdgroup_float8x8 sums[5];
for (int j = 0; j < 5; j++) sums[j] = simdgroup_float8x8(0);
for (uint times = 0; times < a_shape[0] / 16 + 2; times++) {
  for (uint k = 0; k < 32; k += 8) {
    simdgroup_matrix<T, 8, 8> p, q[5];
    simdgroup_load(p, a, 32, ulong2(k, row));
    for (int j = 0; j < 5; j++) simdgroup_load(q[j], b, 40, ulong2(8 * j, k));
    for (int j = 0; j < 5; j++) simdgroup_multiply_accumulate(sums[j], p, q[j], sums[j]);
  }
}
for (int j = 0; j < 5; j++) simdgroup_store(sums[j], y, 40, ulong2(8 * j, row));
