// Each thread starts at its own element of a transposed array and takes every 8th one.
// input: x = float32[3, 4, 6] arange
// view: x = mx.transpose(x, (2, 1, 0))
// output: y = float32[72]
// row_contiguous: false
// grid: 8
// threadgroup: 8
// expect: y = x
int first = thread_position_in_grid.x;
LoopedElemToLoc<3, uint> loop(x_ndim);
loop.next(first, x_shape, x_strides);
for (int k = first; k < 72; k += 8) {
  y[k] = x[loop.location()];
  loop.next(8, x_shape, x_strides);
}
