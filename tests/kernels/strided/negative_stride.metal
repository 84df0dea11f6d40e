// Backwards through memory.
// input: x = int32[40] random
// view: x = x[::-1]
// output: y = int32[40]
// row_contiguous: false
// grid: 40
// threadgroup: 32
// expect: y = x
uint i = thread_position_in_grid.x;
y[i] = x[int(i) * x_strides[0]];
