// Integers may be added up in any order: all components, some of them, some of them twice.
// input: x = int32[96, 4] integers(-1000, 1000)
// output: y = int32[96, 4]
// output: all = int32[3]
// output: some = int32[3]
// output: twice = int32[3]
// output: largest = int32[3]
// output: least = int32[3]
// grid: 96
// threadgroup: 96
// where: v = (x * 3).reshape(3, 32, 4)
// expect: y = x * 3
// expect: all = v.sum((1, 2))
// expect: some = v[:, :, [0, 2]].sum((1, 2))
// expect: twice = v[:, :, [0, 1, 1, 2, 3]].sum((1, 2))
// expect: largest = v.max((1, 2))
// expect: least = v[:, :, :3].min((1, 2))
uint i = thread_position_in_grid.x, row = simdgroup_index_in_threadgroup;
int4 v = ((const device int4*)x)[i] * 3;
((device int4*)y)[i] = v;
all[row] = simd_sum(v.x + v.y + v.z + v.w);
some[row] = simd_sum(v.x + v.z);
twice[row] = simd_sum(v.y + v.x + v.y + v.z + v.w);
largest[row] = simd_max(max(max(v.x, v.w), max(v.y, v.z)));
least[row] = simd_min(min(min(v.x, v.y), v.z));
