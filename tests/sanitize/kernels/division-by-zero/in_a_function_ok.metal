// The function guards itself.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 64
// threadgroup: 64
// header:
inline long ratio(long a, long b) {
  if (b == 0) return 0;
  return a / b;
}
// body:
uint i = thread_position_in_grid.x;
y[i] = int(ratio(1000, x[i] % 8));
