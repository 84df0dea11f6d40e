// SIMD-groups are rows of the linear index, whatever the shape of the threadgroup.
// input: x = int32[18, 20] integers
// output: y = int32[18, 20]
// where:
//     sums = {}
//     for g, s, v in zip(group, simdgroup, x.reshape(-1)):
//         sums[g, s] = sums.get((g, s), 0) + v
// grid: 20 18
// threadgroup: 8 8
// expect: y = [sums[key] for key in zip(group, simdgroup)]
uint2 at = thread_position_in_grid.xy;
y[at.y * 20 + at.x] = simd_sum(x[at.y * 20 + at.x]);
