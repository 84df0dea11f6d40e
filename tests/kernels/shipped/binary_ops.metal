// Division and remainder as NumPy has them, and more.
// input: a = int32[64] integers(-20, 20)
// input: b = int32[64] np.where(np.arange(64) % 2, 3, -7)
// input: x = float32[64] normal
// output: y = int32[64]
// output: z = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = a % b + 100 * np.maximum(a, b) + 10000 * (a ^ b)
// expect: z = np.logaddexp(x.astype(np.float64), 1) + np.arctan2(x, 2) + np.remainder(x, -1.5)
// close: 1e-5 1e-5
// header:
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/binary_ops.h"
#include "mlx/backend/metal/kernels/ternary_ops.h"
// body:
uint t = thread_position_in_grid.x;
y[t] = Remainder{}(a[t], b[t]) + 100 * Maximum{}(a[t], b[t]) + 10000 * BitwiseXor{}(a[t], b[t]);
z[t] = Select{}(true, LogAddExp{}(x[t], 1.0f), 0.0f) + ArcTan2{}(x[t], 2.0f) + Remainder{}(x[t], -1.5f);
