// A struct inside the body, with members, default values and a nested one.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 2 + 5 + 3
struct Local {
  float a = 2;
  struct Inner { int i = 5; } inner;
  float sum(float v) const { return a + v + inner.i; }
  static int three() { return 3; }
};
uint t = thread_position_in_grid.x;
Local local;
Local copies[2] = {local, {}};
y[t] = copies[t & 1].sum(x[t]) + Local::three();
