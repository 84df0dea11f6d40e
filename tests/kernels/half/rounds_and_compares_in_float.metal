// Functions of float whose arguments and results are narrow, which LLVM takes for functions of half.
// input: a = T[12] [1.5, np.nan, -2.5, np.nan, np.inf, -np.inf, 3.25, -0.75, 7, 2048, 0.5, -1e-4]
// input: b = T[12] [2, 5, np.nan, np.nan, 1, 1, np.nan, 0.25, -7, 0.125, 0.5, -2e-4]
// output: down = T[12]
// output: up = T[12]
// output: cut = T[12]
// output: even = T[12]
// output: away = T[12]
// output: least = T[12]
// output: most = T[12]
// dtypes: float32 float16 bfloat16
// grid: 12
// threadgroup: 32
// expect: down = np.floor(a)
// expect: up = np.ceil(a)
// expect: cut = np.trunc(a)
// expect: even = np.rint(a)
// expect: away = np.copysign(np.floor(np.abs(a) + 0.5), a)
// expect: least = np.fmin(a, b)
// expect: most = np.fmax(a, b)
uint t = thread_position_in_grid.x;
down[t] = T(floor(float(a[t])));
up[t] = T(ceil(float(a[t])));
cut[t] = T(trunc(float(a[t])));
even[t] = T(rint(float(a[t])));
away[t] = T(round(float(a[t])));
least[t] = T(fmin(float(a[t]), float(b[t])));
most[t] = T(fmax(float(a[t]), float(b[t])));
