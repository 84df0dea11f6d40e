// Enumerations with and without scope, with a chosen type, in a switch.
// input: x = int32[60] integers(0, 2)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// expect: y = np.array([5, 16, 107])[x] + 1
// header:
enum Color { RED, GREEN = 10, BLUE = 100 };
enum class Mode : uchar { add, sub, none };
inline Color color_of(int i) { return i == 0 ? RED : i == 1 ? GREEN : BLUE; }
// body:
uint t = thread_position_in_grid.x;
Mode mode = static_cast<Mode>(x[t]);
int v = color_of(x[t]);
switch (mode) {
  case Mode::add: v += 5; break;
  case Mode::sub: v += 6; break;
  case Mode::none: v += 7; break;
}
enum { ONE = 1 };
y[t] = v + ONE + (sizeof(Mode) == 1 ? 0 : 1000);
