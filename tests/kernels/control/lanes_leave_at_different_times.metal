// Loops that lanes leave by several ways, in different iterations, alone or together; what is left
// behind differs by way, and a lane that left first must not see what others do.
// input: x = int32[200] integers(1, 60)
// output: y = int32[200]
// output: z = int32[200]
// output: w = int32[200]
// grid: 200
// threadgroup: 64
// where:
//     def run(t, x):
//         n, a, how = 0, x, 0
//         while True:
//             if a % 7 == 0: how = 1; break
//             a += 3 + t % 2
//             if a > 90: how = 2; break
//             n += 1
//             if n == 12: how = 3; break
//         total = 0
//         for i in range(x):
//             k = i
//             while k % 5 != t % 5 and k < 40: k += 1
//             if k == 39: break
//             total += k
//         return a, how * 100 + n, total
//     rows = np.array([run(t, int(v)) for t, v in enumerate(x)])
// expect: y = rows[:, 0]
// expect: z = rows[:, 1]
// expect: w = rows[:, 2]
uint t = thread_position_in_grid.x;
int n = 0, a = x[t], how = 0;
while (true) {
  if (a % 7 == 0) { how = 1; break; }
  a += 3 + int(t) % 2;
  if (a > 90) { how = 2; break; }
  if (++n == 12) { how = 3; break; }
}
y[t] = a;
z[t] = how * 100 + n;
int total = 0;
for (int i = 0; i < x[t]; ++i) {
  int k = i;
  while (k % 5 != int(t % 5) && k < 40) ++k;
  if (k == 39) break;
  total += k;
}
w[t] = total;
