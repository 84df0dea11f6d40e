// Each thread stores three and five neighbours: numbers that are no power of two.
// input: x = T[303] random
// output: y = T[303]
// output: z = T[505]
// dtypes: float32 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64
// grid: 101
// threadgroup: 64
// where: rows = x.reshape(101, 3)
// expect: y = rows[:, [2, 0, 1]].reshape(303)
// expect: z = rows[:, [1, 2, 0, 2, 1]].reshape(505)
uint i = thread_position_in_grid.x;
T a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
y[3 * i] = c;
y[3 * i + 1] = a;
y[3 * i + 2] = b;
z[5 * i] = b;
z[5 * i + 1] = c;
z[5 * i + 2] = a;
z[5 * i + 3] = c;
z[5 * i + 4] = b;
