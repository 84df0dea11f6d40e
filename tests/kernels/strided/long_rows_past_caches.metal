// So many rows of 32 that their stores may go past the caches.
// input: x = float32[131104, 32] np.arange(131104 * 32) % 9973
// output: y = float32[131104, 32]
// grid: 131104
// threadgroup: 32
// expect: y = x[:, ::-1]
uint t = thread_position_in_grid.x;
float row[32];
for (uint k = 0; k < 32; ++k) row[k] = x[32 * t + k];
for (uint k = 0; k < 32; ++k) y[32 * t + k] = row[31 - k];
