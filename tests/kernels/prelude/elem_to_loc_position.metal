// From a position in three dimensions: x and y are the last axes, z counts the others.
// input: x = int32[2, 3, 4, 5] arange
// view: x = mx.transpose(x, (3, 1, 0, 2))
// output: y = int32[5, 3, 2, 4]
// row_contiguous: false
// grid: 4 2 15
// threadgroup: 4 2 4
// expect: y = x
uint3 at = thread_position_in_grid;
y[(at.z * 2 + at.y) * 4 + at.x] = x[elem_to_loc<int>(at, x_shape, x_strides, x_ndim)];
