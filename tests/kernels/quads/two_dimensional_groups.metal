// Quads are four consecutive threads of a threadgroup, in two dimensions as in one.
// output: y = int32[36]
// output: z = int32[36]
// grid: 6 6
// threadgroup: 3 4
// where:
//     quad = group * 100 + lid // 4
//     here = quad[:, None] == quad
// expect: y = here @ tid
// expect: z = lid // 4 * 10 + lid % 4
uint t = thread_position_in_grid.y * 6 + thread_position_in_grid.x;
y[t] = quad_sum(int(t));
z[t] = quadgroup_index_in_threadgroup * 10 + thread_index_in_quadgroup;
