// Reductions across a SIMD-group, for types that Metal has and has not.
// input: x = int64[64] integers(-9, 9)
// output: y = int64[4]
// output: z = bool[2]
// grid: 64
// threadgroup: 64
// where: r = x.reshape(2, 32)
// expect: y = np.stack([r.sum(1), r.max(1)], axis=1)
// expect: z = (r > -9).all(1)
// header:
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/atomic.h"
#include "mlx/backend/metal/kernels/reduction/ops.h"
// body:
uint t = thread_position_in_grid.x, g = t / 32;
Sum<long> sum;
Max<long> largest;
And<bool> all_of;
const long s = sum.simd_reduce(x[t]), m = largest.simd_reduce(x[t]);
const bool a = all_of.simd_reduce(x[t] > -9);
if (t % 32 == 0) {
  y[2 * g] = s;
  y[2 * g + 1] = largest(m, Max<long>::init);
  z[g] = a;
}
