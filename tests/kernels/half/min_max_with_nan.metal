// min and max return the operand that is a number.
// input: a = T[9] [1, np.nan, -2, np.nan, np.inf, -np.inf, 3, 0, 7]
// input: b = T[9] [2, 5, np.nan, np.nan, 1, 1, np.nan, 0, -7]
// output: least = T[9]
// output: most = T[9]
// output: clamped = T[9]
// dtypes: float32 float16 bfloat16
// grid: 9
// threadgroup: 32
// expect: least = np.fmin(a, b)
// expect: most = np.fmax(a, b)
// expect: clamped = np.where(np.isnan(a), a, np.clip(a, -1, 2))
uint t = thread_position_in_grid.x;
least[t] = min(a[t], b[t]);
most[t] = max(a[t], b[t]);
clamped[t] = isnan(a[t]) ? a[t] : max(min(a[t], T(2)), T(-1));
