// Bindings to a struct, to an array and by reference.
// input: x = float32[33] integers(-9, 9)
// output: y = float32[33]
// grid: 33
// threadgroup: 32
// expect: y = 2 * x + 1 + 3 + 10
// header:
struct Pair { float first; int second; };
inline Pair pair_of(float v) { return {2 * v, 1}; }
// body:
uint t = thread_position_in_grid.x;
auto [a, b] = pair_of(x[t]);
float values[2] = {1, 2};
auto [c, d] = values;
Pair p = {0, 0};
auto& [e, f] = p;
f = 10;
y[t] = a + b + c + d + e + p.second;
