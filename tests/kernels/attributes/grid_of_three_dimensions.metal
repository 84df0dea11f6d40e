// Positions in a 3-D grid whose edges are ragged in every direction.
// output: y = int32[5, 7, 9]
// grid: 9 7 5
// threadgroup: 4 3 2
// expect: y = px + 100 * py + 10000 * pz
uint3 p = thread_position_in_grid;
uint3 q = threadgroup_position_in_grid * dispatch_threads_per_threadgroup + thread_position_in_threadgroup;
y[(p.z * 7 + p.y) * 9 + p.x] = all(p == q) ? p.x + 100 * p.y + 10000 * p.z : -1;
