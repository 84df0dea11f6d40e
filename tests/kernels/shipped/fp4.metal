// Four bits of floating point.
// output: y = float32[16]
// output: z = float16[16]
// grid: 16
// where: v = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
// expect: y = np.concatenate([v, -v])
// expect: z = np.concatenate([v, -v])
// header:
#include "mlx/backend/metal/kernels/fp4.h"
// body:
uint t = thread_position_in_grid.x;
fp4_e2m1 code(0.0f);
code.bits = t;
y[t] = float(code);
z[t] = float16_t(code);
