// Unroll pragmas of either spelling do not change results.
// input: x = float32[32, 8] integers
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// expect: y = x.sum(axis=1) * 2
uint t = thread_position_in_grid.x;
float sum = 0;
#pragma clang loop unroll(full)
for (int k = 0; k < 8; k++) sum += x[t * 8 + k];
MLX_MTL_PRAGMA_UNROLL
for (int k = 0; k < 8; k++) sum += x[t * 8 + k];
y[t] = sum;
