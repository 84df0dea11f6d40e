// A broadcast axis has stride 0: all threads of a row read one element.
// input: x = float32[5, 1] normal
// view: x = mx.broadcast_to(x, (5, 12))
// output: y = float32[60]
// row_contiguous: false
// grid: 60
// threadgroup: 32
// expect: y = x.reshape(-1)
uint i = thread_position_in_grid.x;
y[i] = x[elem_to_loc(i, x_shape, x_strides, x_ndim)];
