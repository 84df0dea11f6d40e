// More tiles than there are rows for: no tile, and the arguments stay as they are.
// input: offsets = int32[3] [0, 10, 30]
// output: y = int32[12, 3]
// grid: 384
// threadgroup: 32
// where:
//     tiles = [(0, 0, 8), (0, 8, 2), (1, 10, 8), (1, 18, 8), (1, 26, 4), (2, 30, 8), (2, 38, 2)]
// expect: y = np.array(tiles + [(-7, -7, -7)] * 5)
int tile = threadgroup_position_in_grid.x, row = -7, group = -7;
short rows = -7;
schedule_row_tile<8>(offsets, 3, 40, tile, thread_index_in_simdgroup, row, group, rows);
if (thread_index_in_simdgroup == 0) y[3 * tile] = group, y[3 * tile + 1] = row, y[3 * tile + 2] = rows;
