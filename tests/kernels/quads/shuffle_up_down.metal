// Lanes at the end keep their own value.
// dtypes: float32 float16 bfloat16 int16 uint64
// input: x = T[64] random
// output: y = T[64]
// output: z = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = q[:, [0, 0, 1, 2]]
// expect: z = q[:, [2, 3, 2, 3]]
uint i = thread_position_in_grid.x;
y[i] = quad_shuffle_up(x[i], 1);
z[i] = quad_shuffle_down(x[i], 2);
