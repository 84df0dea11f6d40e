// 3 by 3 matrices in private arrays with constant indices.
// input: a = float32[35, 3, 3] integers(-9, 9)
// input: b = float32[35, 3, 3] integers(-9, 9)
// output: c = float32[35, 3, 3]
// grid: 35
// threadgroup: 32
// expect: c = a @ b
uint t = thread_position_in_grid.x;
float p[3][3], q[3][3];
for (int i = 0; i < 3; i++)
  for (int j = 0; j < 3; j++) {
    p[i][j] = a[t * 9 + i * 3 + j];
    q[i][j] = b[t * 9 + i * 3 + j];
  }
for (int i = 0; i < 3; i++)
  for (int j = 0; j < 3; j++) {
    float sum = 0;
    for (int k = 0; k < 3; k++) sum += p[i][k] * q[k][j];
    c[t * 9 + i * 3 + j] = sum;
  }
