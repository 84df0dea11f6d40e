// The loader of MLX's attention kernels: a tile into threadgroup memory, rows with a gap.
// input: x = float16[64,16] integers(-50, 50)
// output: y = float16[32,20]
// grid: 64
// threadgroup: 64
// expect: y = np.pad(x[32:], ((0, 0), (0, 4)), constant_values=9)
// header:
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/attn/loader.h"
// body:
threadgroup half tile[32 * 20];
const uint t = thread_position_in_grid.x;
for (uint i = t; i < 640; i += 64) tile[i] = 9;
threadgroup_barrier(mem_flags::mem_threadgroup);
using Loader = mlx::steel::BlockLoader<half, 32, 16, 20, 0, 64>;
thread Loader loader(x, 16, tile, simdgroup_index_in_threadgroup, thread_index_in_simdgroup);
loader.next();
loader.load_unsafe();
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = t; i < 640; i += 64) y[i] = tile[i];
