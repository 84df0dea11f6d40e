// A private array with indices that depend on the data.
// input: x = int32[50, 8] integers
// output: y = int32[50, 8]
// grid: 50
// threadgroup: 32
// expect: y = np.sort(x, axis=1)
uint t = thread_position_in_grid.x;
int a[8];
for (int i = 0; i < 8; i++) a[i] = x[t * 8 + i];
for (int i = 1; i < 8; i++) {
  int value = a[i];
  int j = i - 1;
  while (j >= 0 && a[j] > value) {
    a[j + 1] = a[j];
    j--;
  }
  a[j + 1] = value;
}
for (int i = 0; i < 8; i++) y[t * 8 + i] = a[i];
