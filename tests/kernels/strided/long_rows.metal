// Each thread has a row of 16, and one of 32: whole cache lines.
// dtypes: float32 uint32
// input: x = T[140, 16] integers(0, 99)
// input: z = T[140, 32] integers(0, 99)
// output: y = T[140, 32]
// output: w = T[140, 16]
// grid: 140
// threadgroup: 64
// where:
//     twice = np.concatenate([x, x[:, ::-1]], axis=1)
// expect: y = (z[:, ::-1] * np.arange(1, 33) + twice)
// expect: w = x + z[:, ::2]
uint t = thread_position_in_grid.x;
T row[32], other[16];
for (uint k = 0; k < 32; ++k) row[k] = z[32 * t + k];
for (uint k = 0; k < 16; ++k) other[k] = x[16 * t + k];
for (uint k = 0; k < 32; ++k) y[32 * t + k] = row[31 - k] * T(k + 1) + other[k < 16 ? k : 31 - k];
for (uint k = 0; k < 16; ++k) w[16 * t + k] = other[k] + row[2 * k];
