// LoopedElemToLoc<2, int, false> for arrays of exactly two axes, in steps of one and of four.
// input: x = int32[6, 7] arange
// view: x = x.T
// output: y = int32[2, 42]
// row_contiguous: false
// grid: 2
// init: -1
// where:
//     flat = x.reshape(-1)
// expect: y = np.stack([flat, np.where(np.arange(42) % 4 == 0, flat, -1)])
LoopedElemToLoc<2, int, false> loop(x_ndim);
int step = thread_position_in_grid.x == 0 ? 1 : 4;
device int* row = y + 42 * thread_position_in_grid.x;
for (int k = 0; k < 42; k += step) {
  row[k] = x[loop.location()];
  loop.next(step, x_shape, x_strides);
}
