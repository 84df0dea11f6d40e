// A view that is not contiguous, addressed through shape and strides.
// input: x = float32[6, 10, 4] normal
// view: x = x[::2, :, 1].T
// output: y = float32[30]
// row_contiguous: false
// grid: 30
// threadgroup: 32
// expect: y = x.reshape(-1) * 2
uint i = thread_position_in_grid.x;
uint loc = elem_to_loc(i, x_shape, x_strides, x_ndim);
y[i] = x[loc] * 2;
