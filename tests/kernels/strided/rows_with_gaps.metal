// Each lane reads and writes neighbours, with other elements between those of two lanes.
// input: x = float32[70,11] normal
// input: h = float16[70,9] normal
// output: y = float32[70,10]
// output: z = float16[70,9]
// init: 3
// grid: 70
// expect: y = np.concatenate([np.full((70, 1), 3), x[:, 1:9][:, ::-1], np.full((70, 1), 3)], 1)
// expect: z = np.concatenate([h[:, :4] * 2, np.full((70, 5), 3)], 1)
// close: 1e-3 1e-3
uint i = thread_position_in_grid.x;
float row[8];
for (uint k = 0; k < 8; ++k) row[k] = x[11 * i + k + 1];
for (uint k = 0; k < 8; ++k) y[10 * i + 8 - k] = row[k];
for (uint k = 0; k < 4; ++k) z[9 * i + k] = 2 * h[9 * i + k];
