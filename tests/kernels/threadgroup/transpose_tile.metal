// A matrix transposed through threadgroup memory, tiles ragged at both edges.
// input: x = float32[45, 70] normal
// output: y = float32[70, 45]
// grid: 70 45
// threadgroup: 16 16
// expect: y = x.T
threadgroup float tile[16][17];
uint2 local = thread_position_in_threadgroup.xy;
uint2 at = thread_position_in_grid.xy;
tile[local.y][local.x] = x[at.y * 70 + at.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
// Any thread of the group may store any element of the tile.
uint index = thread_index_in_threadgroup;
uint2 size = threads_per_threadgroup.xy;
uint column = index / size.y;
uint row = index % size.y;
uint2 corner = threadgroup_position_in_grid.xy * 16;
y[(corner.x + column) * 45 + corner.y + row] = tile[row][column];
