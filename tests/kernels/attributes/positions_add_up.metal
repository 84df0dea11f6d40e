// group · size + position = position in the grid; the linear index counts x, then y, then z.
// output: y = bool[4, 6, 9]
// output: z = uint32[4, 6, 9]
// grid: 9 6 4
// threadgroup: 4 3 2
// expect: y = True
// expect: z = lid
uint3 at = thread_position_in_grid, inside = thread_position_in_threadgroup;
uint3 size = threads_per_threadgroup;
uint i = (at.z * 6 + at.y) * 9 + at.x;
uint linear = inside.x + size.x * (inside.y + size.y * inside.z);
y[i] = all(threadgroup_position_in_grid * dispatch_threads_per_threadgroup + inside == at) &&
       linear == thread_index_in_threadgroup &&
       linear == simdgroup_index_in_threadgroup * 32 + thread_index_in_simdgroup &&
       linear == quadgroup_index_in_threadgroup * 4 + thread_index_in_quadgroup;
z[i] = thread_index_in_threadgroup;
