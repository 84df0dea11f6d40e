// An error that the user's arguments cause inside of a header of MLX.
// output: y = float32[4]
// grid: 4
// error: source:8:1
// header:
#include "mlx/backend/metal/kernels/quantized.h"
// body:
qdot<float, 8, 7>(0, 0, 0.0f, 0.0f, 0.0f);
