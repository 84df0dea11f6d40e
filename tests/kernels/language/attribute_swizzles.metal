// Components of the positions, as they come.
// output: y = int32[6,35]
// grid: 7 5 6
// threadgroup: 3 2 2
// expect: y = px + 10 * py + 100 * pz + (px // 3) * 1000 + (py // 2) * 10000
const uint2 p = thread_position_in_grid.xy;
const ushort3 g = ushort3(threadgroup_position_in_grid);
const uint z = thread_position_in_grid[2];
const uint at = (z * threads_per_grid.y + p.y) * threads_per_grid.x + p.x;
y[at] = p.x + 10 * p.y + 100 * z + g.x * 1000 + g.y * 10000;
