// Sums and scans over the active lanes of each four.
// dtypes: float32 bfloat16 int32 int8 int64
// input: x = T[64] integers(-5, 5)
// output: y = T[64]
// output: z = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
//     p = np.where(q > 0, q, 0)
// expect: y = np.where(q > 0, p.sum(1, keepdims=True), np.where(q > 0, -99, q).max(1, keepdims=True)).astype(x.dtype)
// expect: z = np.where(q > 0, np.cumsum(p, 1) - p, np.where(q > 0, 99, q).min(1, keepdims=True)).astype(x.dtype)
uint i = thread_position_in_grid.x;
if (x[i] > T(0)) {
  y[i] = quad_sum(x[i]);
  z[i] = quad_prefix_exclusive_sum(x[i]);
} else {
  y[i] = quad_max(x[i]);
  z[i] = quad_min(x[i]);
}
