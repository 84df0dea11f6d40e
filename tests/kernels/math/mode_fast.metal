// The same functions with math_mode fast: within Metal's bounds, infinities kept.
// dtypes: float32 float16
// input: x = T[100] uniform(0.1, 3)
// output: y = T[100, 12]
// output: z = T[2]
// grid: 100
// threadgroup: 64
// math_mode: fast
// where:
//     u = x.astype('d')
//     functions = [np.exp, np.log, np.sin, np.cos, np.tanh, np.sqrt, np.reciprocal, np.exp2, np.log2, np.arctan, np.sinh]
// expect: y = np.stack([f(u) for f in functions] + [u ** 1.5], axis=1)
// expect: z = [-np.inf, np.inf]
// close: 2e-4 2e-4
uint i = thread_position_in_grid.x;
T u = x[i];
T all[] = {exp(u), log(u), sin(u), cos(u), tanh(u), sqrt(u), T(1) / u, exp2(u), log2(u), atan(u), sinh(u), pow(u, T(1.5))};
for (int k = 0; k < 12; ++k) y[12 * i + k] = all[k];
T low = -INFINITY;
if (i == 0) z[0] = low, z[1] = max(-low, u);
