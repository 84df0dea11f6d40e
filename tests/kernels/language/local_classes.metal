// Classes inside of the body, with constructors, members and operators.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = (x + 2) * 3 + 1
class Value {
 public:
  explicit Value(float v) : v(v), scale(3) {}
  Value plus(float other) const { return Value(v + other); }
  float operator*() const { return v * scale; }
 private:
  float v;
  const float scale;
};
struct Next { static float of(float v) { return v + 1; } };
uint t = thread_position_in_grid.x;
y[t] = Next::of(*Value(x[t]).plus(2));
