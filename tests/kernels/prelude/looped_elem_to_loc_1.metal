// LoopedElemToLoc<1, int64_t, true>: every element in turn, and in steps of seven.
// input: x = int32[3, 2, 5, 2] arange
// view: x = mx.transpose(x, (1, 3, 0, 2))
// output: y = int32[2, 60]
// row_contiguous: false
// grid: 2
// init: -1
// where:
//     flat = x.reshape(-1)
// expect: y = np.stack([flat, np.where(np.arange(60) % 7 == 3, flat, -1)])
LoopedElemToLoc<1, int64_t, true> loop(x_ndim);
int step = thread_position_in_grid.x == 0 ? 1 : 7, first = step == 7 ? 3 : 0;
device int* row = y + 60 * thread_position_in_grid.x;
if (first > 0) loop.next(first, x_shape, x_strides);
for (int k = first; k < 60; k += step) {
  row[k] = x[loop.location()];
  if (step == 1) loop.next(x_shape, x_strides);
  else loop.next(step, x_shape, x_strides);
}
