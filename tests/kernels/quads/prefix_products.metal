// Inclusive and exclusive products of lower lanes.
// dtypes: float32 float16 bfloat16 int32 uint8 int64
// input: x = T[64] integers(1, 3)
// output: y = T[64]
// output: z = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
//     p = np.cumprod(q, axis=1)
// expect: y = p.astype(x.dtype)
// expect: z = np.c_[np.ones(16), p[:, :3]].astype(x.dtype)
uint i = thread_position_in_grid.x;
y[i] = quad_prefix_inclusive_product(x[i]);
z[i] = quad_prefix_exclusive_product(x[i]);
