// A loop that all leave together, with a branch of single lanes behind the way out.
// input: x = int32[8] [3, 9, 4, 7, 7, 7, 1, 7]
// output: y = int32[100]
// grid: 100
// threadgroup: 100
// where:
//     def run(quad_lane):
//         v = 0
//         for i in range(6):
//             if x[i] > 3:
//                 if x[i + 1] == 1:
//                     break
//                 if quad_lane == 0:
//                     v += 10 * x[i] if x[0] > 1 else 1
//         return v
// expect: y = [run(i % 4) for i in range(100)]
uint t = thread_position_in_grid.x;
int v = 0;
for (int i = 0; i < 6; i++) {
  if (x[i] > 3) {
    if (x[i + 1] == 1) break;
    if (quad_is_first()) {
      v += x[0] > 1 ? 10 * x[i] : 1;
    }
  }
}
y[t] = v;
