// Eight bits of floating point: all codes, and numbers to the nearest code. Nobody promises the sign
// of a NaN.
// input: c = uint8[256] arange
// output: y = float32[256]
// output: z = bfloat16[256]
// output: back = uint8[256]
// grid: 256
// threadgroup: 32
// where:
//     s, e, m = c >> 7, (c >> 3) & 15, (c & 7).astype(float)
//     v = np.where(e > 0, (1 + m / 8) * 2.0 ** (e.astype(int) - 7), m / 8 * 2.0 ** -6) * np.where(s, -1, 1)
//     v = np.where((c & 127) == 127, np.nan, v)
//     inside = (c & 127) < 127
// expect: y = v
// expect: z = v
// expect: back = np.where(inside, c, 126)
// header:
#include "mlx/backend/metal/kernels/fp8.h"
// body:
uint t = thread_position_in_grid.x;
fp8_e4m3 code = *(const device fp8_e4m3*)(c + t);
y[t] = float(code);
z[t] = bfloat16_t(code);
uint8_t bits = fp8_e4m3(float(code)).bits;
back[t] = isnan(y[t]) ? bits & 127 : bits;
