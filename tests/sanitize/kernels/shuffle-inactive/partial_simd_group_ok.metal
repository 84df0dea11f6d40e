// A reduction counts the lanes that there are.
// input: x = float32[48] normal
// output: y = float32[2]
// grid: 48
// threadgroup: 48
float v = simd_sum(x[thread_position_in_grid.x]);
if (thread_index_in_simdgroup == 0) y[simdgroup_index_in_threadgroup] = v;
