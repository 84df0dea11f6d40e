// Scoped enumerations with an underlying type, in a switch, as flags and as template arguments.
// input: x = uint8[40] integers(0, 3)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.choose(x, [10, 21, 31, 41]) + 6
// header:
enum class Level : uchar { low, middle = 1, high, top };
enum Flags : uint { none = 0, bold = 1 << 1, wide = 1 << 2 };
constexpr Flags operator|(Flags a, Flags b) { return Flags(uint(a) | uint(b)); }
template <Level L> int weight() { return 10 * (int(L) + 1); }
// body:
uint t = thread_position_in_grid.x;
int w;
switch (static_cast<Level>(x[t])) {
  case Level::low: w = weight<Level::low>(); break;
  case Level::middle: w = weight<Level::middle>() + 1; break;
  case Level::high: w = weight<Level::high>() + 1; break;
  default: w = weight<Level::top>() + int(Level::middle);
}
y[t] = w + (bold | wide);
