// Two loops, both with counts of the lane's own, and a branch inside.
// input: a = int32[70] integers(0, 9)
// input: b = int32[70] integers(0, 9)
// output: y = int32[70]
// where:
//     def count(p, q):
//         return sum(i * j if (i + j) % 3 else -1 for i in range(p) for j in range(q - i))
// grid: 70
// threadgroup: 32
// expect: y = [count(p, q) for p, q in zip(a.tolist(), b.tolist())]
uint t = thread_position_in_grid.x;
int sum = 0;
for (int i = 0; i < a[t]; i++) {
  for (int j = 0; j < b[t] - i; j++) {
    if ((i + j) % 3 != 0) sum += i * j;
    else sum -= 1;
  }
}
y[t] = sum;
