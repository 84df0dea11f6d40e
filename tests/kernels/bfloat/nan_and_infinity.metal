// fmax, fmin and medians of bfloat drop NaN; clamp and select.
// input: x = bfloat16[25] np.repeat([1, -2, np.nan, np.inf, -np.inf], 5)
// input: z = bfloat16[25] np.tile([1, -2, np.nan, np.inf, -np.inf], 5)
// output: y = bfloat16[25, 4]
// grid: 25
// threadgroup: 25
// expect: y = np.stack([np.fmax(x, z), np.fmin(x, z), np.fmax(x, z), np.fmin(x, z)], axis=1)
uint i = thread_position_in_grid.x;
y[4 * i] = fmax(x[i], z[i]);
y[4 * i + 1] = fmin(x[i], z[i]);
y[4 * i + 2] = max(x[i], z[i]);
y[4 * i + 3] = min(x[i], z[i]);
