// 1 / sqrt(x) and rsqrt(x) of 0 and infinity, where an estimate has to be told apart from a NaN.
// input: x = float32[40] np.where(np.arange(40) % 4 == 0, 0, np.where(np.arange(40) % 4 == 1, np.inf, np.arange(40) + 0.5))
// output: y = float32[40]
// output: z = float32[40]
// output: f = float32[40]
// grid: 40
// threadgroup: 40
// math_mode: fast
// expect: y = 1 / np.sqrt(x.astype(np.float64))
// expect: z = 1 / np.sqrt(x.astype(np.float64))
// expect: f = 1 / np.sqrt(x.astype(np.float64))
// close: 1e-6
uint i = thread_position_in_grid.x;
y[i] = 1.0f / sqrt(x[i]);
z[i] = rsqrt(x[i]);
f[i] = fast::rsqrt(x[i]);
