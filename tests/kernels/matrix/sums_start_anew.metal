// More sums than registers, in a loop inside a loop: they begin with the last ones or with zero.
// input: a = float32[32,32] integers(-3, 4)
// input: b = float32[32,96] integers(-3, 4)
// input: n = int32 3
// output: y = float32[32,96]
// grid: 64
// threadgroup: 64
// where:
//     p = [a @ b[:, 32 * i : 32 * i + 32] for i in range(3)]
//     s = [p[0], p[0] + p[1], p[2]]
// expect: y = np.concatenate(s, axis=1)
if (simdgroup_index_in_threadgroup != 1) return;
simdgroup_float8x8 sums[4][4];
for (int tile = 0; tile < n; ++tile) {
  if (tile != 1) {
    #pragma unroll
    for (uint i = 0; i < 16; ++i) sums[i / 4][i % 4] = simdgroup_float8x8(0);
  }
  for (uint k = 0; k < a_shape[1]; k += 8) {
    simdgroup_float8x8 p[4], q[4];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      simdgroup_load(p[i], a, 32, ulong2(k, 8 * i));
      simdgroup_load(q[i], b, 96, ulong2(32 * tile + 8 * i, k));
    }
    #pragma unroll
    for (uint i = 0; i < 16; ++i) {
      simdgroup_multiply_accumulate(sums[i / 4][i % 4], p[i / 4], q[i % 4], sums[i / 4][i % 4]);
    }
  }
  #pragma unroll
  for (uint i = 0; i < 16; ++i) {
    simdgroup_store(sums[i / 4][i % 4], y, 96, ulong2(32 * tile + i % 4 * 8, i / 4 * 8));
  }
}
