// The last SIMD-group of each threadgroup lacks lanes.
// input: x = int32[110] integers
// output: y = int32[110]
// where:
//     sums = {}
//     for g, s, v in zip(group, simdgroup, x):
//         sums[g, s] = sums.get((g, s), 0) + v
// grid: 110
// threadgroup: 50
// expect: y = [sums[key] for key in zip(group, simdgroup)]
uint i = thread_position_in_grid.x;
y[i] = simd_sum(x[i]);
