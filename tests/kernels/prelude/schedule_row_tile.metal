// Which expert's rows a tile has, for 70 experts, empty ones and short last tiles among them.
// input: n = int32[70] np.resize([0, 5, 16, 17, 1, 0, 33, 40, 0, 0, 8], 70)
// input: offsets = int32[70] np.r_[0, np.cumsum(np.resize([0, 5, 16, 17, 1, 0, 33, 40, 0, 0, 8], 70))[:-1]]
// output: y = int32[100, 4]
// grid: 3200
// threadgroup: 64
// init: -1
// where:
//     tiles = [(g, offsets[g] + 16 * k, min(16, n[g] - 16 * k), 1) for g in range(70) for k in range(-(-n[g] // 16))]
//     tiles += [(-1, -1, -1, 0)] * 100
// expect: y = np.array(tiles[:100])
int tile = thread_position_in_grid.x / 32, M = offsets[69] + n[69];
int row = -1, group = -1;
short rows = -1;
bool found = schedule_row_tile<16>(offsets, 70, M, tile, thread_index_in_simdgroup, row, group, rows);
if (thread_index_in_simdgroup == 0) {
  device int* at = y + 4 * tile;
  at[0] = group, at[1] = row, at[2] = rows, at[3] = found;
}
