// Operations of MLX's own kernels, as function objects.
// input: x = float32[64] normal
// output: y = float32[64]
// output: z = float32[64]
// output: w = float32[64]
// grid: 64
// threadgroup: 32
// where:
//     import math
//     d = x.astype(np.float64)
// expect: y = 1 / (1 + np.exp(-d))
// expect: z = np.array([math.erf(v) for v in d])
// expect: w = np.log1p(np.abs(d)) + d * d + np.sign(d) + np.expm1(d)
// close: 1e-5 1e-6
// header:
#include "mlx/backend/metal/kernels/unary_ops.h"
// body:
uint t = thread_position_in_grid.x;
y[t] = Sigmoid{}(x[t]);
z[t] = Erf()(x[t]);
w[t] = Log1p{}(Abs{}(x[t])) + Square{}(x[t]) + Sign{}(x[t]) + Expm1{}(x[t]);
