// All finite ones fit, those of bfloat do in a long by far not.
// input: x = float16[4] [1, 65504, 0, -65504]
// output: y = int32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
y[i] = int(x[i]) + int(long(bfloat(float(x[i]))));
