// The first pair that multiplies to the target; lanes return from two loops deep.
// input: target = int32[64] integers(1, 60)
// output: y = int32[64]
// where:
//     def find(t):
//         return next((a * 100 + b for a in range(2, 9) for b in range(a, 9) if a * b == t), -1)
// grid: 64
// threadgroup: 32
// expect: y = [find(t) for t in target.tolist()]
uint t = thread_position_in_grid.x;
y[t] = -1;
for (int a = 2; a < 9; a++) {
  for (int b = a; b < 9; b++) {
    if (a * b == target[t]) {
      y[t] = a * 100 + b;
      return;
    }
  }
}
