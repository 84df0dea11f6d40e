// Pairs and halves of the four.
// dtypes: float32 bfloat16 uint8 int32
// input: x = T[64] random
// output: y = T[64]
// output: z = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = q[:, [1, 0, 3, 2]]
// expect: z = q[:, [2, 3, 0, 1]]
uint i = thread_position_in_grid.x;
y[i] = quad_shuffle_xor(x[i], 1);
z[i] = quad_shuffle_xor(x[i], 2);
