// float2x4 and half2x4: out of scalars, columns, a diagonal, each other; size and memory layout.
// input: x = float32[8] arange
// output: y = float32[5, 8]
// output: s = int32[4]
// grid: 1
// where:
//     m = np.arange(8).reshape(2, 4)
//     diagonal = 3 * np.eye(2, 4)
// expect: y = np.stack([m, m * 2, diagonal, m, diagonal])
// expect: s = [32, 16, 16, 8]
using M = float2x4;
using H = half2x4;
M all(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
M columns(float4(2 * x[0], 2 * x[1], 2 * x[2], 2 * x[3]), float4(2 * x[4], 2 * x[5], 2 * x[6], 2 * x[7]));
M diagonal(3.0f);
M converted = M(H(all));
M other = M(H(3.0h));
for (int i = 0; i < 2; ++i)
  for (int j = 0; j < 4; ++j) {
    int k = 4 * i + j;
    y[k] = all[i][j], y[8 + k] = columns[i][j], y[16 + k] = diagonal[i][j];
    y[24 + k] = converted[i][j], y[32 + k] = other[i][j];
  }
s[0] = sizeof(M), s[1] = sizeof(H), s[2] = alignof(M), s[3] = alignof(H);
