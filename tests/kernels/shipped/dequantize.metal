// MLX's affine weights of four bits, dequantised and multiplied as its kernels do.
// input: w = uint8[32,4] random
// input: x = float32[8] normal
// output: y = float32[32,8]
// output: d = float32[32]
// grid: 32
// where:
//     q = np.stack([w & 15, w >> 4], axis=-1).reshape(32, 8)
//     v = q * np.float32(0.25) - 1
// expect: y = v
// expect: d = v.astype(np.float64) @ x
// close: 1e-5 1e-5
// header:
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/quantized_utils.h"
#include "mlx/backend/metal/kernels/quantized.h"
// body:
const uint t = thread_position_in_grid.x;
float values[8];
dequantize<float, 8, 4>(w + 4 * t, 0.25f, -1.0f, values);
for (int i = 0; i < 8; i++) y[8 * t + i] = values[i];
float scaled[8];
const float sum = load_vector<float, float, 8, 4>(x, scaled);
d[t] = qdot<float, 8, 4>(w + 4 * t, scaled, 0.25f, -1.0f, sum);
