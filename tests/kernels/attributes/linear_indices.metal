// Indices in the threadgroup, the SIMD-group and the quad, in ragged 2-D groups.
// output: lid_ = uint32[9, 14]
// output: lane_ = uint32[9, 14]
// output: gang_ = uint32[9, 14]
// output: quad_ = uint32[9, 14]
// grid: 14 9
// threadgroup: 8 6
// expect: lid_ = lid
// expect: lane_ = lid % 32
// expect: gang_ = lid // 32 * 10 + (np.minimum(8, 14 - px // 8 * 8) * np.minimum(6, 9 - py // 6 * 6) + 31) // 32
// expect: quad_ = lid // 4 * 4 + lid % 4
uint at = thread_position_in_grid.y * 14 + thread_position_in_grid.x;
lid_[at] = thread_index_in_threadgroup;
lane_[at] = thread_index_in_simdgroup;
gang_[at] = simdgroup_index_in_threadgroup * 10 + simdgroups_per_threadgroup;
quad_[at] = quadgroup_index_in_threadgroup * 4 + thread_index_in_quadgroup;
