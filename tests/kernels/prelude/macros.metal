// MTL_CONST, METAL_FUNC, MLX_MTL_PRAGMA_UNROLL and instantiate_kernel in a header.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[8]
// grid: 8
// expect: y = x.reshape(8, 5) @ [1, 2, 3, 4, 5]
// header:
static MTL_CONST constexpr int N = 5;
MTL_CONST float weights[N] = {1, 2, 3, 4, 5};
template <int K>
METAL_FUNC float weighted(const device float* values) {
  float sum = 0;
  MLX_MTL_PRAGMA_UNROLL
  for (int k = 0; k < K; ++k) sum += weights[k] * values[k];
  return sum;
}
instantiate_kernel("weighted_5", weighted, 5)
// body:
uint i = thread_position_in_grid.x;
y[i] = weighted<N>(x + N * i);
