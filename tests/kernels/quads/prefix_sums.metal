// Inclusive and exclusive sums of lower lanes.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8 int64 uint64
// input: x = T[64] integers(-9, 9)
// output: y = T[64]
// output: z = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = np.cumsum(q, 1).astype(x.dtype)
// expect: z = (np.cumsum(q, 1) - q).astype(x.dtype)
uint i = thread_position_in_grid.x;
y[i] = quad_prefix_inclusive_sum(x[i]);
z[i] = quad_prefix_exclusive_sum(x[i]);
