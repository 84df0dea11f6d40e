// `continue` in a do-while goes to the condition.
// input: x = int32[60] integers(0, 40)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// where:
//     def f(n):
//         s = i = 0
//         while True:
//             i += 1
//             if i % 3:
//                 s += i
//                 if s > 50: break
//             if not i < n: break
//         return s
// expect: y = np.array([f(int(n)) for n in x])
uint t = thread_position_in_grid.x;
int s = 0, i = 0;
do {
  i++;
  if (i % 3 == 0) continue;
  s += i;
  if (s > 50) break;
} while (i < x[t]);
y[t] = s;
