// 7 x 5 threads a threadgroup on a grid that it does not divide: smaller groups at the edges.
// input: x = float32[12,17] integers(-9, 9)
// output: y = float32[12,17]
// grid: 17 12
// threadgroup: 7 5
// where:
//     z = np.empty((12, 17))
//     for r in range(0, 12, 5):
//         for c in range(0, 17, 7):
//             z[r:r + 5, c:c + 7] = x[r:r + 5, c:c + 7][::-1, ::-1]
// expect: y = z
threadgroup float cells[5][7];
const uint2 p = thread_position_in_threadgroup.xy, size = threads_per_threadgroup.xy;
const uint2 g = thread_position_in_grid.xy;
cells[p.y][p.x] = x[g.y * 17 + g.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[g.y * 17 + g.x] = cells[size.y - 1 - p.y][size.x - 1 - p.x];
