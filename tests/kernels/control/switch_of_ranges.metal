// Ranges of labels, a default in the middle, negative labels.
// input: x = int32[60] integers(-10, 10)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// expect: y = np.select([x == -1, (x >= 2) & (x <= 5), x == 9], [1, 2, 3], 4)
uint t = thread_position_in_grid.x;
int r;
switch (x[t]) {
  case -1: r = 1; break;
  default: r = 4; break;
  case 2 ... 5: r = 2; break;
  case 9: r = 3;
}
y[t] = r;
