// Elements that no thread writes keep the initial value.
// input: x = int32[50] integers
// output: y = int32[50]
// grid: 50
// threadgroup: 16
// init: 9
// expect: y = np.where(tid % 3 == 0, x, 9)
uint i = thread_position_in_grid.x;
if (i % 3 == 0) y[i] = x[i];
