// MLX's atomics of types that Metal has none for: two halves share a word.
// input: x = float16[128] integers(-5, 5)
// output: y = float16[4]
// output: z = float32[2]
// grid: 128
// threadgroup: 32
// init: 0
// expect: y = x.reshape(32, 4).sum(0)
// expect: z = [x.max(), x.sum()]
// header:
#include "mlx/backend/metal/kernels/atomic.h"
// body:
uint t = thread_position_in_grid.x;
mlx_atomic_fetch_add_explicit((device mlx_atomic<half>*)y, x[t], t % 4);
device mlx_atomic<float>* words = (device mlx_atomic<float>*)z;
mlx_atomic_fetch_max_explicit(words, float(x[t]), 0);
mlx_atomic_fetch_add_explicit(words, float(x[t]), 1);
