// Private arrays by reference, with their size deduced; loops over them by reference.
// input: x = float32[32] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// expect: y = x * 4 + 6
// header:
template <typename T, uint N>
T sum(const thread T (&values)[N]) {
  T total = 0;
  for (uint i = 0; i < N; i++) total += values[i];
  return total;
}
template <uint N>
void add(thread float (&values)[N], float v) {
  for (thread float& value : values) value += v;
}
// body:
uint t = thread_position_in_grid.x;
float v[4] = {0, 1, 2, 3};
add(v, x[t]);
y[t] = sum(v);
