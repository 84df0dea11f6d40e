// LLVM unrolls the loops and takes the array apart, so that `v[j] = current` may store to each part.
// input: x = float32[70, 9] normal
// output: out = float32[70, 9]
// grid: 70
// threadgroup: 35
// expect: out = np.sort(x, 1)
uint t = thread_position_in_grid.x;
float v[9];
for (int i = 0; i < 9; i++) v[i] = x[9 * t + i];
for (int i = 1; i < 9; i++) {
  const float current = v[i];
  int j = i;
  while (j > 0 && current < v[j - 1]) {
    v[j] = v[j - 1];
    j--;
  }
  v[j] = current;
}
for (int i = 0; i < 9; i++) out[9 * t + i] = v[i];
