// Pixels of 64 channels move by what a table says: two SIMD-groups have one pixel in common.
// input: x = float32[2, 8, 8, 64] normal
// input: moves = int32[128, 2] integers(-3, 3)
// output: y = float32[8192]
// grid: 8192
// threadgroup: 256
// where:
//     pad = np.zeros((2, 14, 14, 64), np.float32)
//     pad[:, 3:11, 3:11] = x
//     n, r, c, k = np.unravel_index(tid, (2, 8, 8, 64))
// expect: y = pad[n, r + 3 + moves[tid // 64, 0], c + 3 + moves[tid // 64, 1], k]
uint i = thread_position_in_grid.x, entry = i / 64 * 2;
int row = int(i / 512 % 8) + moves[entry], column = int(i / 64 % 8) + moves[entry + 1];
bool inside = row >= 0 && row < 8 && column >= 0 && column < 8;
y[i] = inside ? x[((i / 4096 * 8 + row) * 8 + column) * 64 + i % 64] : 0;
