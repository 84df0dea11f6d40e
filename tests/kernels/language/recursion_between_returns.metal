// Functions with several returns, some of which call them again: for these, results meet in a
// variable at the end.
// input: n = int32[40] integers(0, 120)
// input: sorted = int32[64] np.arange(64) * 2
// output: y = int32[40]
// output: z = int32[40]
// grid: 40
// expect: y = np.searchsorted(sorted, n)
// expect: z = np.array([np.prod(np.arange(1, k % 11 + 1)) for k in n])
// header:
int place(const device int* sorted, int value, int from, int end) {
  if (from >= end) return from;
  int middle = (from + end) / 2;
  if (sorted[middle] < value) return place(sorted, value, middle + 1, end);
  return place(sorted, value, from, middle);
}
int product(int n) {
  if (n <= 1) return 1;
  return n * product(n - 1);
}
// body:
uint i = thread_position_in_grid.x;
y[i] = place(sorted, n[i], 0, 64);
z[i] = product(n[i] % 11);
