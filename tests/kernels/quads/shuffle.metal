// Within four lanes, by a number that each lane chooses; 64-bit integers too.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8 int64 uint64
// input: x = T[64] random
// output: y = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = q[:, [1, 0, 3, 2]]
uint i = thread_position_in_grid.x;
y[i] = quad_shuffle(x[i], ushort(i * 3 + 1) % 4);
