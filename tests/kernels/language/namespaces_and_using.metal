// Nested namespaces, aliases, inline and unnamed ones, using declarations in blocks.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1 + 2 + 3 + 4
// header:
namespace outer::inner {
inline int one() { return 1; }
namespace deep { constant int two = 2; }
}
namespace outer { inline namespace v2 { inline int three() { return 3; } } }
namespace { constexpr int four() { return 4; } }
namespace short_name = outer::inner::deep;
// body:
uint t = thread_position_in_grid.x;
int v = x[t];
{
  using namespace outer;
  using inner::one;
  v += one() + three();
}
y[t] = v + short_name::two + ::four();
