// For every type of element.
// input: x = T[40] integers(0, 9)
// output: y = T[40]
// grid: 40
// threadgroup: 40
// dtypes: float16 bfloat16 int8 int64
uint i = thread_position_in_grid.x;
y[i] = x[i * 2 % 40];
