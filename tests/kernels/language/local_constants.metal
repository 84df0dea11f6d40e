// Constants inside functions in every spelling; a static constexpr table.
// input: x = int32[32] integers(0, 2)
// output: y = float32[32]
// grid: 32
// expect: y = np.array([1, 2, 4])[x] + np.array([10, 20, 30])[x] + 0.5 + 7
// header:
template <typename T>
T power(int i) {
  static constexpr constant T table[3] = {1, 2, 4};
  return table[i];
}
// body:
uint t = thread_position_in_grid.x;
static constant float tens[3] = {10, 20, 30};
static constexpr float half_ = 0.5;
constexpr constant int seven = 7;
y[t] = power<float>(x[t]) + tens[x[t]] + half_ + seven;
