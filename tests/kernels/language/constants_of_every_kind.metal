// constexpr, constant and static constant, local and global, with suffixes and casts.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1 + 2 + 3 + 4 + 5 + 6
// header:
constant float one = 1;
constexpr constant int two = 1 << 1;
static constant constexpr half three = 3.0h;
constant constexpr ushort four{4};
template <typename T> constexpr constant T five = T(5);
// body:
uint t = thread_position_in_grid.x;
constexpr int six = two * 3;
static constant int unused = 7;
const float own = x[t];
y[t] = own + one + two + three + four + five<float> + six + (unused - 7);
