// Sums of a loop that are only added up over the lanes, and sums of each component.
// input: x = int32[20, 64, 4] integers(-1000, 1000)
// output: total = int32[2]
// output: columns = int32[64, 4]
// output: ends = int32[64]
// grid: 64
// threadgroup: 64
// expect: total = x.reshape(20, 2, 32, 4).sum((0, 2, 3)) + 32 * 7
// expect: columns = x.sum(0)
// expect: ends = x[:, :, 3].sum(0)
uint i = thread_position_in_grid.x;
int sum = 7, end = 0;
int4 sums = 0;
for (uint k = 0; k < 20; ++k) {
  int4 v = ((const device int4*)x)[64 * k + i];
  sum += v.x + v.y + v.z + v.w;
  sums += v;
  end += v.w;
}
total[simdgroup_index_in_threadgroup] = simd_sum(sum);
((device int4*)columns)[i] = sums;
ends[i] = end;
