// Mean and variance by one SIMD-group a row.
// input: x = float32[10, 70] normal(3, 2)
// input: weight = float32[70] normal
// output: y = float32[10, 70]
// grid: 32 10
// threadgroup: 32 4
// where:
//     d = x.astype(np.float64)
//     centred = d - d.mean(axis=1, keepdims=True)
// expect: y = centred / np.sqrt(d.var(axis=1, keepdims=True) + 1e-5) * weight
// close: 1e-5
uint row = thread_position_in_grid.y;
uint lane = thread_position_in_grid.x;
float sum = 0;
for (uint i = lane; i < 70; i += 32) sum += x[row * 70 + i];
float mean = simd_sum(sum) / 70;
float squares = 0;
for (uint i = lane; i < 70; i += 32) {
  float d = x[row * 70 + i] - mean;
  squares += d * d;
}
float scale = rsqrt(simd_sum(squares) / 70 + 1e-5f);
for (uint i = lane; i < 70; i += 32) y[row * 70 + i] = (x[row * 70 + i] - mean) * scale * weight[i];
