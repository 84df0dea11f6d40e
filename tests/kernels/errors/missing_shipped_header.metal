// A header that the package does not have.
// output: y = float32[4]
// grid: 4
// error: 'mlx/backend/metal/kernels/nothing.h' file not found at 6:10
// header:
#include "mlx/backend/metal/kernels/nothing.h"
// body:
y[0] = 1;
