// A header of MLX that wants another one first: the error names the line of that header.
// output: y = float32[4]
// grid: 4
// error: mlx/backend/metal/kernels/reduction/ops.h:\d+:\d+: error: [^\0]*header:7:1: note: included here
// header:
// reduction/ops.h uses mlx_atomic, which atomic.h defines.
#include "mlx/backend/metal/kernels/reduction/ops.h"
// body:
y[0] = 1;
