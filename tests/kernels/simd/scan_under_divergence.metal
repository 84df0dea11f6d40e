// A scan steps over lanes that are elsewhere.
// input: x = int32[64] integers(1, 9)
// output: y = int32[64]
// where:
//     keep = x % 2 == 1
//     odd = np.where(keep, x, 0).reshape(2, 32)
//     inclusive = np.cumsum(odd, axis=1).reshape(-1)
// grid: 64
// threadgroup: 64
// init: -1
// expect: y = np.where(keep, inclusive * 100 + inclusive - x, -1)
uint i = thread_position_in_grid.x;
if (x[i] % 2 == 1) {
  int inclusive = simd_prefix_inclusive_sum(x[i]);
  y[i] = inclusive * 100 + simd_prefix_exclusive_sum(x[i]);
}
