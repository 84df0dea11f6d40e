// Matrices divided by a number.
// input: x = float32[40, 6] normal
// output: y = float32[40, 6]
// output: z = float16[40, 4]
// grid: 40
// expect: y = x.astype(np.float64) / (np.arange(40)[:, None] + 3)
// expect: z = np.tile([0.5, 0.25, 0.125, 1], (40, 1))
// close: 1e-6
uint i = thread_position_in_grid.x;
const device float* from = x + 6 * i;
float2x3 m = float2x3(from[0], from[1], from[2], from[3], from[4], from[5]) / (float(i) + 3);
for (int k = 0; k < 6; k++) y[6 * i + k] = m[k / 3][k % 3];
half2x2 h = half2x2(1, 0.5, 0.25, 2);
h /= 2;
for (int k = 0; k < 4; k++) z[4 * i + k] = h[k / 2][k % 2];
