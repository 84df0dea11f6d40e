// A lambda an iteration, with what that iteration had, collected in an array of values.
// input: x = int32[50] integers(-9, 9)
// output: y = int32[50]
// grid: 50
// threadgroup: 32
// expect: y = 6 * x + 0 + 1 + 4
uint t = thread_position_in_grid.x;
int values[3];
for (int i = 0; i < 3; i++) {
  auto f = [i, v = x[t] * (i + 1)](int a) { return a * i + v; };
  values[i] = f(i);
}
y[t] = values[0] + values[1] + values[2];
