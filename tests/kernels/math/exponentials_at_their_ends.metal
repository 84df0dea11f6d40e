// Where exponential functions become 0 or infinity, of uniform and of varying arguments.
// input: x = float32[14] [-np.inf, -1000, -150, -88, -87, -1, 0, 1, 87, 88.5, 89, 150, np.inf, np.nan]
// output: y = float32[14]
// output: z = float32[14]
// output: u = float32[14]
// output: v = float32[14]
// grid: 14
// threadgroup: 7
// where:
//     d = x.astype(np.float64)
//     def flushed(r): return np.where(r < 2.0 ** -126, 0, np.where(r >= 2.0 ** 128, np.inf, r))
//     e, e2, e10 = (np.where(np.isnan(d), d, flushed(f)) for f in (np.exp(d), np.exp2(d), 10.0 ** d))
// expect: y = e
// expect: z = e2
// expect: u = e10
// expect: v = e
// close: 1e-6
uint i = thread_position_in_grid.x;
y[i] = exp(x[i]);
z[i] = exp2(x[i]);
u[i] = exp10(x[i]);
for (uint k = 0; k < 14; ++k) {
  float one = exp(x[k]);
  if (k == i) v[k] = one;
}
