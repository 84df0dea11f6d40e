// One lane of each four.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8 int64 uint64
// input: x = T[64] random
// output: y = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = np.repeat(q[:, 2], 4)
uint i = thread_position_in_grid.x;
y[i] = quad_broadcast(x[i], 2);
