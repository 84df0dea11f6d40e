// Row and column of a flat index, for rows that are and that are no multiples of a SIMD-group.
// input: x = float32[50000] uniform(-1, 1)
// input: columns = int32 70
// output: y = float32[1060, 8]
// grid: 1060
// threadgroup: 64
// where: a = lambda c, k=1: x[k * tid // c * 131 + k * tid % c]; c = (columns + 31) // 32 * 32
// expect: y = np.stack([a(3), a(48), a(64), a(96), a(100), a(c), a(96, 4), a(256, 4)], 1)
uint i = thread_position_in_grid.x, c = (columns + 31) / 32 * 32, k = 4 * i;
device float* to = y + 8 * i;
to[0] = x[i / 3 * 131 + i % 3];
to[1] = x[i / 48 * 131 + i % 48];
to[2] = x[i / 64 * 131 + i % 64];
to[3] = x[i / 96 * 131 + i % 96];
to[4] = x[i / 100 * 131 + i % 100];
to[5] = x[i / c * 131 + i % c];
to[6] = x[k / 96 * 131 + k % 96];
to[7] = x[k / 256 * 131 + k % 256];
