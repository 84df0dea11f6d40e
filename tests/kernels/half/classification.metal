// NaN, infinity and signs.
// input: x = T[8] [np.nan, np.inf, -np.inf, 0, -1, 1e-30, 3, 65504]
// output: y = int32[8]
// dtypes: float32 bfloat16
// grid: 8
// threadgroup: 32
// expect: y = np.isnan(x) + 2 * np.isinf(x) + 4 * np.isfinite(x) + 8 * np.signbit(x) * ~np.isnan(x)
uint t = thread_position_in_grid.x;
T v = x[t];
y[t] = isnan(v) + 2 * isinf(v) + 4 * isfinite(v) + (isnan(v) ? 0 : 8 * signbit(v));
