// Shapes and strides of a view that is not contiguous, in three dimensions.
// input: x = float32[4,5,6] integers(-9, 9)
// view: x = x.transpose(2, 0, 1)[::2]
// row_contiguous: false
// output: y = float32[60]
// grid: 60
// threadgroup: 32
// expect: y = x
uint t = thread_position_in_grid.x;
uint rest = t;
long at = 0;
for (int d = x_ndim - 1; d >= 0; d--) {
  at += long(rest % x_shape[d]) * x_strides[d];
  rest /= x_shape[d];
}
y[t] = x[at];
