// Rows and columns from the index of the thread, and of the grid, by shifts and remainders.
// input: a = float32[4096] normal
// output: y = float32[512]
// output: z = int32[512]
// grid: 512
// threadgroup: 128
// where:
//     i = np.arange(512); l = i % 128
// expect: y = a[i // 8 * 8 + i % 8] + a[(l // 4) * 33 + l % 4] + a[i // 16]
// expect: z = (i >> 2) + 1000 * (i & 15) + 100000 * (l >> 6) + (i & 24)
// close: 1e-6
uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
y[i] = a[i / 8 * 8 + i % 8] + a[l / 4 * 33 + l % 4] + a[i / 16];
z[i] = (i >> 2) + 1000 * (i & 15) + 100000 * (l >> 6) + (i & 24);
