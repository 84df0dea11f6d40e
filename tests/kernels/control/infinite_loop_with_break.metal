// `for (;;)` and `while (true)` with exits in the middle.
// input: x = uint32[60] integers(1, 1000)
// output: y = uint32[60]
// grid: 60
// threadgroup: 32
// expect: y = np.array([len(bin(v)) - 3 + 100 * len(str(v)) for v in x])
uint t = thread_position_in_grid.x;
uint v = x[t], bits = 0, digits = 0;
for (;;) {
  v >>= 1;
  if (v == 0) break;
  bits++;
}
v = x[t];
while (true) {
  digits++;
  if (v < 10) { break; }
  v /= 10;
}
y[t] = bits + 100 * digits;
