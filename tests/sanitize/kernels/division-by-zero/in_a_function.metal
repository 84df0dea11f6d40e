// In a function of the header, of 64 bits.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 64
// threadgroup: 64
// header:
inline long ratio(long a, long b) {
  return a / b;  // finds: division-by-zero
}
// body:
uint i = thread_position_in_grid.x;
y[i] = int(ratio(1000, x[i] % 8));
