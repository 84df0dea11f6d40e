// Each threadgroup reads a little of each of 32 rows, and asks for the rows of one to come: how far
// away those are depends on the matrix.
// input: x = float32[160, 96] normal
// output: y = float32[96, 160]
// grid: 160 24
// threadgroup: 32 8
// expect: y = x.T
threadgroup float tile[32][33];
uint2 at = thread_position_in_threadgroup.xy;
uint row = threadgroup_position_in_grid.x * 32, column = threadgroup_position_in_grid.y * 32;
uint rows = x_shape[0], columns = x_shape[1];
for (uint k = 0; k < 32; k += 8) tile[at.y + k][at.x] = x[(row + at.y + k) * columns + column + at.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 0; k < 32; k += 8) y[(column + at.y + k) * rows + row + at.x] = tile[at.x][at.y + k];
