// Sums that could be kept where their results go, and sums that could not: a loop begins again with
// the same ones, or the results of two turns ago are needed.
// input: a = float32[8,32] integers(-3, 4)
// input: b = float32[32,32] integers(-3, 4)
// output: y = float32[32,32]
// grid: 64
// threadgroup: 64
// where:
//     p = [a[:, k:k + 8] @ b[k:k + 8] for k in range(0, 32, 8)]
//     total = p[0] + sum(p) + sum(p)
//     again = p[0] + p[0] + p[3]
//     fibonacci = [p[0], p[0]]
//     for one in p: fibonacci.append(fibonacci[-2] + one)
// expect: y = np.concatenate([total, again, fibonacci[-1], fibonacci[-2]])
threadgroup float copy[2][256];
const uint group = simdgroup_index_in_threadgroup;
simdgroup_float8x8 left, right[4], start[4], fixed[4], total[4], again[4], older[4];
simdgroup_float8x8 newer[4];
simdgroup_load(left, a, 32);
for (int j = 0; j < 4; j++) {
  simdgroup_load(right[j], b, 32, ulong2(8 * j, 0));
  simdgroup_multiply(start[j], left, right[j]);
  total[j] = older[j] = newer[j] = start[j];
}
for (int j = 0; j < 4; j++) simdgroup_multiply_accumulate(fixed[j], left, right[j], start[j]);
for (uint k = 0; k < a_shape[1]; k += 8) {
  simdgroup_load(left, a, 32, ulong2(k, 0));
  for (int j = 0; j < 4; j++) {
    simdgroup_load(right[j], b, 32, ulong2(8 * j, k));
    simdgroup_multiply_accumulate(total[j], left, right[j], total[j]);
  }
  for (int j = 0; j < 4; j++) {
    simdgroup_multiply_accumulate(again[j], left, right[j], fixed[j]);
  }
  simdgroup_store(again[3], copy[group], 8);  // what follows cannot be one product with the first
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (int j = 0; j < 4; j++) {
    simdgroup_multiply_accumulate(total[j], left, right[j], total[j]);
  }
  for (int j = 0; j < 4; j++) {
    simdgroup_float8x8 next;
    simdgroup_multiply_accumulate(next, left, right[j], older[j]);
    older[j] = newer[j];
    newer[j] = next;
  }
}
if (group == 1) {
  for (int j = 0; j < 4; j++) {
    simdgroup_store(total[j], y, 32, ulong2(8 * j, 0));
    simdgroup_store(again[j], y, 32, ulong2(8 * j, 8));
    simdgroup_store(newer[j], y, 32, ulong2(8 * j, 16));
    simdgroup_store(older[j], y, 32, ulong2(8 * j, 24));
  }
}
