// √(x² + y²) without overflow; an infinity wins over NaN.
// input: x = float32[40] np.r_[[3, 1e30, np.inf, np.nan, np.nan, 0, 1e-30, -5], normal(size=(32,))]
// input: z = float32[40] np.r_[[4, 1e30, np.nan, -np.inf, 1, 0, 1e-30, 12], normal(size=(32,))]
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.hypot(x.astype('d'), z)
// close: 1e-6
y[thread_position_in_grid.x] = hypot(x[thread_position_in_grid.x], z[thread_position_in_grid.x]);
