// The block of MLX's matrix-vector kernels, which its header defines as a class.
// input: m = float32[64,128] integers(-5, 5)
// input: v = float32[128] integers(-5, 5)
// output: y = float32[64]
// grid: 128 1 4
// threadgroup: 32 1 4
// expect: y = m @ v
// header:
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/gemv.h"
// body:
using Kernel = GEMVKernel<float, 4, 1, 1, 32, 4, 4, false>;
threadgroup float memory[Kernel::tgp_mem_size == 0 ? 1 : Kernel::tgp_mem_size];
Kernel::run(m, v, y, y, 128, 64, 128, 1.0f, 0.0f, 1, memory, threadgroup_position_in_grid,
            thread_position_in_threadgroup, simdgroup_index_in_threadgroup,
            thread_index_in_simdgroup);
