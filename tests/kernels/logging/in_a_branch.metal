// A call of os_log in a branch changes nothing about what the kernel computes.
// input: x = float32[70] normal
// output: y = float32[70]
// grid: 70
// threadgroup: 64
// expect: y = np.where(x > 2, 2 * x, x)
uint i = thread_position_in_grid.x;
float v = x[i];
if (v > 2) {
  os_log_default.log("large: %f at %u", v, i);
  v *= 2;
}
y[i] = v;
