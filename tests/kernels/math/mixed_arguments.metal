// Integer literals beside floats compute in float, never in an integer.
// input: x = float32[50] uniform(-3, 3)
// output: y = float32[50, 5]
// grid: 50
// threadgroup: 32
// expect: y = np.stack([np.maximum(x, 0), np.minimum(x, 1), np.clip(x, 0, 1), x ** 2, np.fmod(x, 2)], axis=1)
// close: 1e-6
float v = x[thread_position_in_grid.x];
device float* row = y + 5 * thread_position_in_grid.x;
row[0] = max(v, 0);
row[1] = min(1, v);
row[2] = clamp(v, 0, 1);
row[3] = pow(v, 2);
row[4] = fmod(v, 2);
