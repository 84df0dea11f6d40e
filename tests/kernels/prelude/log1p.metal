// log(1 + x), accurate for small x; -infinity at -1, NaN below; half goes by way of float.
// dtypes: float32 float16 bfloat16
// input: x = T[60] np.r_[[0, -1, -2, np.inf, np.nan, 1e-6, -1e-6, 1e-30, 0.5], np.linspace(-0.9, 20, 51)]
// output: y = T[60]
// grid: 60
// threadgroup: 32
// expect: y = np.log1p(x.astype('d'))
// close: 1e-6
uint i = thread_position_in_grid.x;
y[i] = T(log1p(x[i]));
