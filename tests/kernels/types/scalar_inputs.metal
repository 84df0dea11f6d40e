// Scalars of every type as arguments, by value and in constant memory.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16 bool
// input: a = T 1
// input: x = T[3] [1, 0, 1]
// output: y = T[40]
// grid: 40
// threadgroup: 32
// expect: y = np.resize([1, 0, 1], 40)
y[thread_position_in_grid.x] = x[thread_position_in_grid.x % 3] == a ? a : x[1];
