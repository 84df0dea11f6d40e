// Threads that load two or three of four neighbours, the last of them at the end of the array.
// input: x = T[404] random
// output: front = T[303]
// output: back = T[303]
// output: pairs = T[202]
// dtypes: float32 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64
// grid: 101
// threadgroup: 64
// where: rows = x.reshape(101, 4)
// expect: front = rows[:, [2, 0, 1]].reshape(303)
// expect: back = rows[:, [2, 3, 1]].reshape(303)
// expect: pairs = rows[:, [2, 1]].reshape(202)
uint i = thread_position_in_grid.x;
front[3 * i] = x[4 * i + 2];
front[3 * i + 1] = x[4 * i];
front[3 * i + 2] = x[4 * i + 1];
threadgroup_barrier(mem_flags::mem_device);
back[3 * i] = x[4 * i + 2];
back[3 * i + 1] = x[4 * i + 3];
back[3 * i + 2] = x[4 * i + 1];
threadgroup_barrier(mem_flags::mem_device);
pairs[2 * i] = x[4 * i + 2];
pairs[2 * i + 1] = x[4 * i + 1];
