// and, or, xor over four lanes.
// dtypes: int32 uint32 int16 uint16 int8 uint8 int64 uint64
// input: x = T[64] random
// output: y = T[3, 64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = np.stack([np.repeat(f.reduce(q, axis=1), 4) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)])
uint i = thread_position_in_grid.x;
y[i] = quad_and(x[i]);
y[64 + i] = quad_or(x[i]);
y[128 + i] = quad_xor(x[i]);
