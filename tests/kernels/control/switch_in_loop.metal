// `break` leaves the switch, `continue` the iteration, and some cases fall through.
// input: x = uint8[60] random
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// where:
//     def f(v):
//         s = 0
//         for i in range(8):
//             k = (int(v) >> i) & 3
//             if k == 3: continue
//             if k == 0: s += 1
//             if k <= 1: s += 10
//             if k == 2: s += 100
//             s += 1000
//         return s
// expect: y = np.array([f(v) for v in x])
uint t = thread_position_in_grid.x;
int s = 0;
for (int i = 0; i < 8; i++) {
  switch ((x[t] >> i) & 3) {
    case 0:
      s += 1;
      [[fallthrough]];
    case 1: s += 10; break;
    case 3: continue;
    default: s += 100;
  }
  s += 1000;
}
y[t] = s;
