// Arrays, structs, results of functions, references into arrays of structs.
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = x + 1 + (x + 2) * 10 + 5 + 7
// header:
struct Both { int low, high; };
inline Both both(int v) { return {v + 1, v + 2}; }
// body:
uint t = thread_position_in_grid.x;
auto [low, high] = both(x[t]);
int pair[2] = {3, 7};
auto& [first, second] = pair;
first += 2;
Both list[2] = {{0, 0}, {0, 0}};
for (int i = 0; i < 2; i++) {
  auto& [a, b] = list[i];
  a = b = i;
}
const auto [p, q] = list[1];
y[t] = low + high * 10 + pair[0] + second + p - q;
