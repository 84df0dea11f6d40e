// Each thread has four neighbours and gives them out turned around, so that they leave the order of memory.
// input: x = T[404] random
// output: y = T[404]
// output: first = T[101]
// dtypes: float32 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64
// grid: 101
// threadgroup: 64
// where: rows = x.reshape(101, 4)
// expect: y = rows[:, [3, 1, 0, 2]].reshape(404)
// expect: first = rows[:, 0]
uint i = thread_position_in_grid.x;
T four[4];
for (uint k = 0; k < 4; ++k) four[k] = x[4 * i + k];
y[4 * i] = four[3];
y[4 * i + 1] = four[1];
y[4 * i + 2] = four[0];
y[4 * i + 3] = four[2];
first[i] = four[0];
