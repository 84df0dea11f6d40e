// float2x2 and half2x2: out of scalars, columns, a diagonal, each other; size and memory layout.
// input: x = float32[4] arange
// output: y = float32[5, 4]
// output: s = int32[4]
// grid: 1
// where:
//     m = np.arange(4).reshape(2, 2)
//     diagonal = 3 * np.eye(2, 2)
// expect: y = np.stack([m, m * 2, diagonal, m, diagonal])
// expect: s = [16, 8, 8, 4]
using M = float2x2;
using H = half2x2;
M all(x[0], x[1], x[2], x[3]);
M columns(float2(2 * x[0], 2 * x[1]), float2(2 * x[2], 2 * x[3]));
M diagonal(3.0f);
M converted = M(H(all));
M other = M(H(3.0h));
for (int i = 0; i < 2; ++i)
  for (int j = 0; j < 2; ++j) {
    int k = 2 * i + j;
    y[k] = all[i][j], y[4 + k] = columns[i][j], y[8 + k] = diagonal[i][j];
    y[12 + k] = converted[i][j], y[16 + k] = other[i][j];
  }
s[0] = sizeof(M), s[1] = sizeof(H), s[2] = alignof(M), s[3] = alignof(H);
