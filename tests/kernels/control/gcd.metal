// Euclid: a loop whose condition is its only exit.
// input: a = uint32[96] integers(1, 100000)
// input: b = uint32[96] integers(1, 100000)
// output: y = uint32[96]
// grid: 96
// threadgroup: 32
// expect: y = np.gcd(a, b)
uint t = thread_position_in_grid.x;
uint p = a[t];
uint q = b[t];
while (q != 0) {
  uint r = p % q;
  p = q;
  q = r;
}
y[t] = p;
