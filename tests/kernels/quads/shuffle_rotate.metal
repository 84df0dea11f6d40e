// Around the four lanes.
// dtypes: float32 float16 int8 uint32 int64
// input: x = T[64] random
// output: y = T[64]
// output: z = T[64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
// expect: y = q[:, [3, 0, 1, 2]]
// expect: z = q[:, [1, 2, 3, 0]]
uint i = thread_position_in_grid.x;
y[i] = quad_shuffle_rotate_up(x[i], 1);
z[i] = quad_shuffle_rotate_down(x[i], 1);
