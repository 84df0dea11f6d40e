// Each output reads a window that ends at the edges.
// input: x = float32[100] integers
// input: w = float32[7] integers(-3, 3)
// output: y = float32[100]
// grid: 100
// threadgroup: 32
// expect: y = np.convolve(x, w[::-1], mode="same")
int t = thread_position_in_grid.x;
int n = threads_per_grid.x;
float sum = 0;
for (int k = -3; k <= 3; k++) {
  int at = t + k;
  if (at < 0 || at >= n) continue;
  sum += x[at] * w[k + 3];
}
y[t] = sum;
