// A whole factorization in one thread: three nested loops whose bounds depend on each other.
// input: a = float32[12, 12] np.eye(12) * 20 + np.fromfunction(lambda i, j: np.cos(i - j), (12, 12))
// output: l = float32[12, 12]
// grid: 1
// threadgroup: 1
// init: 0
// expect: l = np.linalg.cholesky(a.astype(np.float64))
// close: 1e-5
const int n = 12;
for (int j = 0; j < n; j++) {
  float diagonal = a[j * n + j];
  for (int k = 0; k < j; k++) diagonal -= l[j * n + k] * l[j * n + k];
  diagonal = sqrt(diagonal);
  l[j * n + j] = diagonal;
  for (int i = j + 1; i < n; i++) {
    float sum = a[i * n + j];
    for (int k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
    l[i * n + j] = sum / diagonal;
  }
}
