// Products with the same right matrices that one loop does not suit: rows of their left matrices lie
// at other distances, or what one gives is needed before the next.
// input: a = float32[8,8] integers(-3, 4)
// input: wide = float32[8,20] integers(-3, 4)
// input: b = float32[8,32] integers(-3, 4)
// output: y = float32[32,32]
// output: z = float32[32]
// grid: 32
// threadgroup: 32
// where:
//     first, second = a @ b, wide[:, 3:11] @ b
//     third = a.T @ b + first
// expect: y = np.concatenate([first, second, third, a @ b + third])
// expect: z = np.full(32, first[:, :8].sum())
simdgroup_float8x8 left, right[4], first[4], second[4], third[4], fourth[4];
for (int j = 0; j < 4; j++) simdgroup_load(right[j], b, 32, ulong2(8 * j, 0));
simdgroup_load(left, a);
for (int j = 0; j < 4; j++) simdgroup_multiply(first[j], left, right[j]);
float seen = simd_sum(first[0].thread_elements()[0] + first[0].thread_elements()[1]);
simdgroup_load(left, wide, 20, ulong2(3, 0));
for (int j = 0; j < 4; j++) simdgroup_multiply(second[j], left, right[j]);
simdgroup_load(left, a, 8, ulong2(0, 0), true);
for (int j = 0; j < 4; j++) {
  simdgroup_multiply_accumulate(third[j], left, right[j], first[j]);
}
simdgroup_load(left, a);
for (int j = 0; j < 4; j++) {
  simdgroup_multiply_accumulate(fourth[j], left, right[j], third[j]);
}
z[thread_position_in_grid.x] = seen;
for (int j = 0; j < 4; j++) {
  simdgroup_store(first[j], y, 32, ulong2(8 * j, 0));
  simdgroup_store(second[j], y, 32, ulong2(8 * j, 8));
  simdgroup_store(third[j], y, 32, ulong2(8 * j, 16));
  simdgroup_store(fourth[j], y, 32, ulong2(8 * j, 24));
}
