// Shuffles and sums of vectors.
// dtypes: float32 float16 int32 uint8
// input: x = T[64] integers(-9, 9)
// output: y = T[64]
// output: z = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = np.repeat(q.sum(1), 4).astype(x.dtype)
// expect: z = q[:, ::-1]
uint i = thread_position_in_grid.x;
vec<T, 3> v(x[i], T(1), x[i]);
y[i] = quad_sum(v).x;
z[i] = quad_shuffle_xor(v, 3).z;
