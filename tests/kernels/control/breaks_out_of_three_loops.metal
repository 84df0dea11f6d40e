// A flag that leaves three loops, each with a bound of its own.
// input: x = int32[60] integers(0, 200)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// where:
//     def f(n):
//         for a in range(1, 7):
//             for b in range(a, 7):
//                 for c in range(b, 7):
//                     if a * b * c >= n: return a * 100 + b * 10 + c
//         return -1
// expect: y = np.array([f(int(n)) for n in x])
uint t = thread_position_in_grid.x;
int found = -1;
for (int a = 1; a < 7 && found < 0; a++) {
  for (int b = a; b < 7; b++) {
    for (int c = b; c < 7; c++) {
      if (a * b * c >= x[t]) {
        found = a * 100 + b * 10 + c;
        break;
      }
    }
    if (found >= 0) break;
  }
}
y[t] = found;
