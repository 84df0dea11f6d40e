// Each lane takes groups of neighbours out of three arrays, in steps of 32, until the row ends; what
// is left of the row is under a mask.
// input: x = float32[7,70,4] integers(-9, 9)
// input: w = int32[7,70,2] integers(-9, 9)
// output: y = float32[7,70,2]
// output: total = float32[7]
// grid: 32 7
// threadgroup: 32
// where: pair = np.stack([x[..., 0] + x[..., 1] * w[..., 0], x[..., 2] - x[..., 3] * w[..., 1]], -1)
// where: kept = np.where(x[..., :1] < 0, pair, 2 * pair)
// expect: y = kept
// expect: total = kept.sum((1, 2))
uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y;
uint count = x_shape[1];
float sum = 0;
for (uint i = lane; i < count; i += 32) {
  uint at = row * count + i;
  float4 v = ((const device float4*)x)[at];
  int2 factors = ((const device int2*)w)[at];
  float2 pair = float2(v.x + v.y * factors.x, v.z - v.w * factors.y);
  if (v.x >= 0) pair *= 2;
  ((device float2*)y)[at] = pair;
  sum += pair.x + pair.y;
}
sum = simd_sum(sum);
if (lane == 0) total[row] = sum;
