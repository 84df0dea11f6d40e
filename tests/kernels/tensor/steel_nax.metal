// MLX's own tiles over these operations: ragged, both operands as they are.
// dtypes: float16
// input: a = T[40,80] integers(-3, 4)
// input: b = T[80,50] integers(-3, 4)
// output: c = float32[40,50]
// grid: 128
// threadgroup: 128
// expect: c = a.astype(np.float64) @ b
// header:
#include "mlx/backend/metal/kernels/steel/gemm/gemm_nax.h"
// body:
// Two by two SIMD-groups, 32 x 32 each, over steps of 32 in the depth.
short group = simdgroup_index_in_threadgroup, row = 32 * (group / 2), column = 32 * (group % 2);
short rows = min(32, 40 - row), columns = min(32, 50 - column);
auto tile = mlx::steel::gemm_loop<T, 32, 32, 16, 32, false, false, false, false, false>(
    (const device T*)a + row * 80, (const device T*)b + column, 80, 50, 80, 2, rows, columns);
tile.store_safe((device float*)c + row * 50 + column, 50, short2(columns, rows));
