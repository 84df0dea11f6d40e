// Row-major position to offset in an array of four axes in any order, in uint.
// input: x = float32[3, 4, 5, 2] arange
// view: x = mx.transpose(x, (2, 0, 3, 1))
// output: y = float32[120]
// row_contiguous: false
// grid: 120
// threadgroup: 50
// expect: y = x
uint i = thread_position_in_grid.x;
uint loc = elem_to_loc(uint(i), x_shape, x_strides, x_ndim);
static_assert(is_same_v<decltype(elem_to_loc(uint(0), x_shape, x_strides, x_ndim)), uint>);
y[i] = x[loc];
