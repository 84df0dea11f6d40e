// `return` in the body in several places, and after the last statement.
// input: x = int32[70] integers(-9, 9)
// output: y = int32[70]
// grid: 70
// threadgroup: 32
// init: 5
// expect: y = np.where(x < 0, 5, np.where(x == 0, -1, x))
uint t = thread_position_in_grid.x;
if (x[t] < 0) return;
if (x[t] == 0) {
  y[t] = -1;
  return;
}
y[t] = x[t];
return;
