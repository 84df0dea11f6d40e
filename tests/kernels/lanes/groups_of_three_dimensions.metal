// SIMD-groups run through threadgroups in x, y, z order; those at the edge are smaller.
// covers: partial SIMD-groups, threadgroups that are no multiple of 32
// output: y = int32[3, 5, 7]
// grid: 7 5 3
// threadgroup: 4 3 2
// where:
//     gang = group * 10 + lid // 32
//     same = gang[:, None] == gang
//     sums = same @ tid
// expect: y = sums
uint3 at = thread_position_in_grid;
uint i = (at.z * 5 + at.y) * 7 + at.x;
y[i] = simd_sum(int(i));
