// float4x4 and half4x4: out of scalars, columns, a diagonal, each other; size and memory layout.
// input: x = float32[16] arange
// output: y = float32[5, 16]
// output: s = int32[4]
// grid: 1
// where:
//     m = np.arange(16).reshape(4, 4)
//     diagonal = 3 * np.eye(4, 4)
// expect: y = np.stack([m, m * 2, diagonal, m, diagonal])
// expect: s = [64, 32, 16, 8]
using M = float4x4;
using H = half4x4;
M all(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15]);
M columns(float4(2 * x[0], 2 * x[1], 2 * x[2], 2 * x[3]), float4(2 * x[4], 2 * x[5], 2 * x[6], 2 * x[7]), float4(2 * x[8], 2 * x[9], 2 * x[10], 2 * x[11]), float4(2 * x[12], 2 * x[13], 2 * x[14], 2 * x[15]));
M diagonal(3.0f);
M converted = M(H(all));
M other = M(H(3.0h));
for (int i = 0; i < 4; ++i)
  for (int j = 0; j < 4; ++j) {
    int k = 4 * i + j;
    y[k] = all[i][j], y[16 + k] = columns[i][j], y[32 + k] = diagonal[i][j];
    y[48 + k] = converted[i][j], y[64 + k] = other[i][j];
  }
s[0] = sizeof(M), s[1] = sizeof(H), s[2] = alignof(M), s[3] = alignof(H);
