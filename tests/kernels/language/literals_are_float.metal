// Literals without a suffix are float; half stays half beside an integer literal.
// input: h = float16[32] normal
// output: size = int32[2]
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// expect: size = [4, 2]
// expect: y = np.float32(0.1) + h
uint t = thread_position_in_grid.x;
y[t] = 0.1 + h[t];
if (t == 0) {
  size[0] = sizeof(1.0);
  size[1] = sizeof(h[t] * 2);
}
