// Tiles of both factors in threadgroup memory; sizes that no tile divides.
// input: a = float32[37, 50] integers(-9, 9)
// input: b = float32[50, 41] integers(-9, 9)
// output: c = float32[37, 41]
// grid: 48 48
// threadgroup: 16 16
// expect: c = a @ b
constexpr int TILE = 16;
threadgroup float left[TILE][TILE];
threadgroup float right[TILE][TILE];
const int M = a_shape[0], K = a_shape[1], N = b_shape[1];
const int row = thread_position_in_grid.y, column = thread_position_in_grid.x;
const int y = thread_position_in_threadgroup.y, x = thread_position_in_threadgroup.x;
float sum = 0;
for (int start = 0; start < K; start += TILE) {
  left[y][x] = row < M && start + x < K ? a[row * K + start + x] : 0.0f;
  right[y][x] = start + y < K && column < N ? b[(start + y) * N + column] : 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int k = 0; k < TILE; k++) sum += left[y][k] * right[k][x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
if (row < M && column < N) c[row * N + column] = sum;
