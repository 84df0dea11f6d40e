// A counter goes up at the head of a loop that lanes leave one after the other; some then add up together.
// input: x = int32[96] integers(0, 6)
// output: y = int32[96]
// output: z = int32[96]
// init: 0
// grid: 96
// threadgroup: 48
// where:
//     key = tid // 48 * 2 + lid // 32
//     turns = np.where(tid % 4 < 2, np.where((tid % 2 == 1) & (x > 0), np.minimum(-(-10 // np.maximum(x, 1)), 6), 6), 1)
//     chosen = tid % 5 == 2
//     total = np.array([x[(key == k) & chosen].sum() for k in key])
// expect: z = np.where(tid % 2 == 1, x * turns, 0)
// expect: y = np.where(chosen, total, 0)
uint i = thread_position_in_grid.x;
int k = 0;
do {
  k += 1;
  if (i & 1) z[i] += x[i];
  if (z[i] > 9) break;
} while (k < 6 && (i & 3) < 2);
if (i % 5 == 2) y[i] = simd_sum(x[i]);
