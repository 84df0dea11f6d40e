// Leave at the first zero, skip negatives.
// input: x = int32[64, 20] integers(-3, 9)
// output: y = int32[64]
// where:
//     def total(row):
//         sum = 0
//         for value in row:
//             if value == 0:
//                 break
//             if value < 0:
//                 continue
//             sum += value
//         return sum
// grid: 64
// threadgroup: 32
// expect: y = [total(row) for row in x.tolist()]
uint t = thread_position_in_grid.x;
int sum = 0;
for (int k = 0; k < 20; k++) {
  int value = x[t * 20 + k];
  if (value == 0) break;
  if (value < 0) continue;
  sum += value;
}
y[t] = sum;
