// Lanes look at their elements of a sum between products, and change some.
// input: a = float32[8,32] integers(-3, 4)
// input: b = float32[32,16] integers(-3, 4)
// output: y = float32[8,16]
// output: total = float32[1]
// grid: 32
// threadgroup: 32
// where: parts = [a[:, k:k + 8] @ b[k:k + 8] for k in (0, 8, 16, 24)]
// where: sums = np.zeros((8, 16)); totals = 0
// where: for part in parts: sums = sums + part; sums[:, 0:8:2] *= -1; totals = totals + sums.sum()
// expect: y = sums
// expect: total = [totals]
simdgroup_float8x8 sums[2];
float all = 0;
for (int j = 0; j < 2; j++) sums[j] = simdgroup_float8x8(0);
for (uint k = 0; k < b_shape[0]; k += 8) {
  simdgroup_float8x8 p, q;
  simdgroup_load(p, a, 32, ulong2(k, 0));
  for (int j = 0; j < 2; j++) {
    simdgroup_load(q, b, 16, ulong2(8 * j, k));
    simdgroup_multiply_accumulate(sums[j], p, q, sums[j]);
  }
  sums[0].thread_elements()[0] *= -1;
  for (int j = 0; j < 2; j++) {
    float2 mine = float2(sums[j].thread_elements()[0], sums[j].thread_elements()[1]);
    all += simd_sum(mine.x + mine.y);
  }
}
for (int j = 0; j < 2; j++) simdgroup_store(sums[j], y, 16, ulong2(8 * j, 0));
if (thread_index_in_simdgroup == 0) total[0] = all;
