// min and max where the compiler may assume that there is no NaN.
// input: x = T[50] integers
// output: y = T[50]
// output: z = T[1]
// dtypes: float32 float16 bfloat16
// math_mode: fast
// grid: 50
// threadgroup: 32
// expect: y = np.clip(x, -3, 16)
// expect: z = np.minimum(x[0], 16)
uint t = thread_position_in_grid.x;
y[t] = max(min(x[t], T(16)), T(-3));
if (t == 0) z[0] = min(x[0], T(16));
