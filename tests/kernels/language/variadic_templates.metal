// Parameter packs: recursion, folds, sizeof...
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1 + 2 + 3 + x * 6 + 300
// header:
template <typename T>
T sum(T v) { return v; }
template <typename T, typename... Rest>
T sum(T v, Rest... rest) { return v + sum(rest...); }
template <typename... A>
auto product(A... a) { return (a * ... * 1); }
template <typename... A>
constexpr int count(A...) { return sizeof...(A); }
// body:
uint t = thread_position_in_grid.x;
y[t] = sum(x[t], 1, 2, 3) + product(x[t], 2, 3) + 100 * count(1, 2u, 3.0f);
