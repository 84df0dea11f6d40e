// float3x3 and half3x3: out of scalars, columns, a diagonal, each other; size and memory layout.
// input: x = float32[9] arange
// output: y = float32[5, 9]
// output: s = int32[4]
// grid: 1
// where:
//     m = np.arange(9).reshape(3, 3)
//     diagonal = 3 * np.eye(3, 3)
// expect: y = np.stack([m, m * 2, diagonal, m, diagonal])
// expect: s = [48, 24, 16, 8]
using M = float3x3;
using H = half3x3;
M all(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]);
M columns(float3(2 * x[0], 2 * x[1], 2 * x[2]), float3(2 * x[3], 2 * x[4], 2 * x[5]), float3(2 * x[6], 2 * x[7], 2 * x[8]));
M diagonal(3.0f);
M converted = M(H(all));
M other = M(H(3.0h));
for (int i = 0; i < 3; ++i)
  for (int j = 0; j < 3; ++j) {
    int k = 3 * i + j;
    y[k] = all[i][j], y[9 + k] = columns[i][j], y[18 + k] = diagonal[i][j];
    y[27 + k] = converted[i][j], y[36 + k] = other[i][j];
  }
s[0] = sizeof(M), s[1] = sizeof(H), s[2] = alignof(M), s[3] = alignof(H);
