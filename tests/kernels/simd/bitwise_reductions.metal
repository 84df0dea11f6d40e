// simd_and, simd_or, simd_xor.
// input: x = uint32[32] random
// output: y = uint32[3]
// grid: 32
// threadgroup: 32
// expect: y = [np.bitwise_and.reduce(x | 5), np.bitwise_or.reduce(x & 0xf0f), np.bitwise_xor.reduce(x)]
uint v = x[thread_position_in_grid.x];
uint a = simd_and(v | 5u);
uint o = simd_or(v & 0xf0fu);
uint e = simd_xor(v);
if (simd_is_first()) {
  y[0] = a;
  y[1] = o;
  y[2] = e;
}
