// A number type that converts from and to others, as MLX's fp8 does.
// input: x = float32[40] uniform(-4, 4)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.rint(x * 4) / 4 + np.rint(x * 4)
// header:
struct Quarter {
  char raw;
  Quarter() = default;
  Quarter(float v) : raw(char(rint(v * 4))) {}
  operator float() const { return raw / 4.0f; }
  explicit operator int() const { return raw; }
};
// body:
uint t = thread_position_in_grid.x;
const Quarter q = x[t];
float f = q;
y[t] = f + int(q);
