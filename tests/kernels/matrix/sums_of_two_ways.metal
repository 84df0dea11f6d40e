// Sums that come from a product or from elsewhere, as lanes decide.
// input: a = float32[8,16] integers(-3, 4)
// input: b = float32[16,16] integers(-3, 4)
// input: keep = int32[32] integers(0, 1)
// output: y = float32[8,16]
// grid: 32
// threadgroup: 32
// where: lanes = np.arange(32)
// where: rows = (lanes >> 2 & 4) | (lanes >> 1 & 3); columns = (lanes >> 1 & 4) | (lanes << 1 & 2)
// where: kept = np.zeros((8, 8)); kept[rows, columns] = keep; kept[rows, columns + 1] = keep
// where: kept = np.tile(kept, 2); sums = np.zeros((8, 16))
// where: for k in (0, 8): sums = np.where(kept == 1, sums + a[:, k:k + 8] @ b[k:k + 8], 7)
// expect: y = sums
simdgroup_float8x8 sums[2];
for (int j = 0; j < 2; j++) sums[j] = simdgroup_float8x8(0);
for (uint k = 0; k < b_shape[0]; k += 8) {
  simdgroup_float8x8 p, q;
  simdgroup_load(p, a, 16, ulong2(k, 0));
  for (int j = 0; j < 2; j++) {
    simdgroup_load(q, b, 16, ulong2(8 * j, k));
    simdgroup_multiply_accumulate(sums[j], p, q, sums[j]);
  }
  if (keep[thread_index_in_simdgroup] == 0) {
    for (int j = 0; j < 2; j++) {
      for (uint r = 0; r < keep_shape[0] / 16; r++) sums[j].thread_elements()[r] = 7;
    }
  }
}
for (int j = 0; j < 2; j++) simdgroup_store(sums[j], y, 16, ulong2(8 * j, 0));
