// The max over four lanes, in each of them.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8 int64 uint64
// input: x = T[64] random
// output: y = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = np.repeat(q.max(1), 4).astype(x.dtype)
uint i = thread_position_in_grid.x;
y[i] = quad_max(x[i]);
