// MLX's own tiles over these operations: aligned, the right operand transposed.
// input: a = float16[32,64] integers(-3, 4)
// input: b = float16[32,64] integers(-3, 4)
// output: c = float32[32,32]
// grid: 32
// threadgroup: 32
// expect: c = a.astype(np.float64) @ b.astype(np.float64).T
// header:
#include "mlx/backend/metal/kernels/steel/gemm/gemm_nax.h"
// body:
auto tile = mlx::steel::gemm_loop<half, 32, 32, 32, 32, false, true, true, true, true>(
    (const device half*)a, (const device half*)b, 64, 64, 64, 2, 32, 32);
tile.store((device float*)c, 32);
