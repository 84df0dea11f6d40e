// MLX's index helpers on a view, beside an included header of the same functions.
// input: x = float32[6,10] integers(-9, 9)
// view: x = x[:, ::2].T
// row_contiguous: false
// output: y = float32[30]
// grid: 30
// expect: y = x
// header:
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/indexing/indexing.h"
// body:
uint t = thread_position_in_grid.x;
y[t] = x[elem_to_loc(t, x_shape, x_strides, x_ndim)];
