// 2 x 3 blocks of a product for each SIMD-group, in arrays of matrices.
// input: a = float32[32,24] integers(-3, 4)
// input: b = float32[24,48] integers(-3, 4)
// output: y = float32[32,48]
// grid: 32 2 2
// threadgroup: 32
// expect: y = a @ b
uint row = 16 * threadgroup_position_in_grid.z, column = 24 * threadgroup_position_in_grid.y;
simdgroup_float8x8 sums[2][3], p[2], q[3];
for (int i = 0; i < 2; i++)
  for (int j = 0; j < 3; j++) sums[i][j] = simdgroup_float8x8(0);
for (uint k = 0; k < 24; k += 8) {
  for (int i = 0; i < 2; i++) simdgroup_load(p[i], a, 24, ulong2(k, row + 8 * i));
  for (int j = 0; j < 3; j++) simdgroup_load(q[j], b, 48, ulong2(column + 8 * j, k));
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) simdgroup_multiply_accumulate(sums[i][j], p[i], q[j], sums[i][j]);
}
for (int i = 0; i < 2; i++)
  for (int j = 0; j < 3; j++)
    simdgroup_store(sums[i][j], y + (row + 8 * i) * 48 + column + 8 * j, 48);
