// Cases that fall through, `continue` in a switch in a loop, nested breaks.
// input: x = int32[64] integers(0, 5)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// where:
//     def f(v):
//         total = 0
//         for i in range(6):
//             k = (v + i) % 6
//             if k == 0: continue
//             if k == 1: total += 1
//             if k in (1, 2): total += 10
//             elif k == 3: total += 100
//             else: total += 1000
//             if total > 2000: break
//             total += 5
//         return total
// expect: y = np.array([f(int(v)) for v in x])
uint t = thread_position_in_grid.x;
int total = 0;
for (int i = 0; i < 6; i++) {
  switch ((x[t] + i) % 6) {
    case 0: continue;
    case 1: total += 1;
    case 2: total += 10; break;
    case 3: { total += 100; break; }
    default: total += 1000;
  }
  if (total > 2000) break;
  total += 5;
}
y[t] = total;
