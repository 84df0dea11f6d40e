// A stack in private memory walks a tree that lies in a buffer.
// input: x = int32[63] integers(0, 9)
// output: y = int32[40]
// grid: 40
// where:
//     def walk(t):
//         todo, s = [0], 0
//         while todo:
//             i = todo.pop()
//             if i >= 63 or x[i] % 5 == t % 5: continue
//             s += int(x[i])
//             todo += [2 * i + 1, 2 * i + 2]
//         return s
// expect: y = np.array([walk(t) for t in range(40)])
uint t = thread_position_in_grid.x;
int todo[16];
int height = 0, sum = 0;
todo[height++] = 0;
while (height > 0) {
  const int i = todo[--height];
  if (i >= 63 || x[i] % 5 == int(t % 5)) continue;
  sum += x[i];
  todo[height++] = 2 * i + 1;
  todo[height++] = 2 * i + 2;
}
y[t] = sum;
