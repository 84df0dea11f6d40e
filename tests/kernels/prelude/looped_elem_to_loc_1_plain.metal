// LoopedElemToLoc<1, int64_t, false>: every element in turn, and in steps of seven.
// input: x = int32[30, 2] arange
// view: x = x[:, 1]
// output: y = int32[2, 30]
// row_contiguous: false
// grid: 2
// init: -1
// where:
//     flat = x.reshape(-1)
// expect: y = np.stack([flat, np.where(np.arange(30) % 7 == 3, flat, -1)])
LoopedElemToLoc<1, int64_t, false> loop(x_ndim);
int step = thread_position_in_grid.x == 0 ? 1 : 7, first = step == 7 ? 3 : 0;
device int* row = y + 30 * thread_position_in_grid.x;
if (first > 0) loop.next(first, x_shape, x_strides);
for (int k = first; k < 30; k += step) {
  row[k] = x[loop.location()];
  if (step == 1) loop.next(x_shape, x_strides);
  else loop.next(step, x_shape, x_strides);
}
