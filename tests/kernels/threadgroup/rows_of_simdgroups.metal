// Each row of the threadgroup is a SIMD-group; all of them load the same columns in a loop.
// input: a = float32[24, 19] normal
// input: b = float32[19, 64] normal
// output: y = float32[24, 64]
// output: z = float32[24, 64]
// grid: 64 24
// threadgroup: 32 8
// expect: y = a @ b
// expect: z = np.repeat((a @ b).reshape(24, 2, 32)[:, :, 5], 32, 1)
// close: 1e-5 1e-5
uint row = thread_position_in_grid.y, column = thread_position_in_grid.x;
float sum = 0;
for (uint k = 0; k < a_shape[1]; ++k) sum += a[row * a_shape[1] + k] * b[k * 64 + column];
y[row * 64 + column] = sum;
z[row * 64 + column] = simd_shuffle(sum, 5);
