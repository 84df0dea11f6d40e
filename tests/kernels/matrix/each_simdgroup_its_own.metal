// Several SIMD-groups, each with its own block.
// input: x = float32[64,8] normal
// output: y = float32[64,8]
// grid: 256
// threadgroup: 128
// expect: y = 2 * x
uint block = threadgroup_position_in_grid.x * 4 + simdgroup_index_in_threadgroup;
simdgroup_float8x8 m, two(2.0f);
simdgroup_load(m, x + block * 64);
simdgroup_store(two * m, y + block * 64);
